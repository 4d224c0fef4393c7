"""The recording of the sweep that runs, and those of earlier ones that are still being written."""

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.control.recording import OpenRecorder, RecordingWriter
from profiles.store import new_session_path
from profiles.wire.events import Event, PlanStarted


def new_path(folder: Path, event: PlanStarted) -> Path:
    """A free file name in the folder for the session that begins."""
    started = datetime.fromisoformat(event.started_at)
    return new_session_path(folder, event.plan.backend, started)


class Recordings(QObject):
    """Every recording of a window; one is written to at a time.

    Signals:
        created: As RecordingWriter (Path).
        failed: As RecordingWriter (str, str).
        refused: As RecordingWriter.
    """

    created = Signal(object)
    failed = Signal(str, str)
    refused = Signal()

    def __init__(self, opener: OpenRecorder, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._opener = opener
        self._current: RecordingWriter | None = None
        self._finishing: list[RecordingWriter] = []  # asked to end

    def begin(self, path: Path) -> RecordingWriter:
        """Record what comes in this file."""
        writer = self._current = RecordingWriter(path, self._opener, self)
        writer.failed.connect(self.failed)
        writer.created.connect(self.created)
        writer.refused.connect(self.refused)
        return writer

    def record(self, event: Event) -> None:
        """Have an event written, if anything is recorded now."""
        if self._current is not None:
            self._current.record(event)

    def finish(self) -> None:
        """Write what waits, then close the file; returns at once."""
        if self._current is not None:
            self._current.finish()
            self._finishing = [w for w in self._finishing if not w.finished] + [self._current]
            self._current = None

    def wait(self) -> None:
        """Finish, and return when every file is closed."""
        self.finish()
        for writer in self._finishing:
            writer.wait()
