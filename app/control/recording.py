"""Writes a running session to its file from a thread of its own: a slow disk must not stop the window."""

import queue
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from profiles.store import MovedFileError, Recorder, TakenFileError
from profiles.wire.events import Event

CATCHES_UP = " The sweep goes on, and the file catches up once it can be written."
RETRY_S = 5.0  # between two attempts once the sweep is over


class EventRecorder(Protocol):
    """What writes events to one file; an event whose writing raises is kept and tried again with the next.

    Attributes:
        path: The file.
    """

    path: Path

    @property
    def created(self) -> bool:
        """Whether the file is there."""

    def record(self, event: Event) -> None:
        """Write one event durably."""

    def catch_up(self) -> None:
        """Write what could not be written before."""

    def close(self) -> None:
        """Close the file."""


OpenRecorder = Callable[[Path], EventRecorder]


def new_recording(path: Path) -> Recorder:
    """Records in a new file of this name, or of one with a number where the name is taken."""
    return Recorder(path, numbered=True)


class RecordingWriter(QObject):
    """Records one session's events in order.

    What cannot be written is tried again with the next event, and after the last until it is written or
    waited for: a disk full for a while costs nothing.

    Signals:
        created: The file is there (Path).
        failed: A failure, not the same twice: one sentence, and details (str, str).
        refused: The file is another's; no later attempt can be better.
    """

    created = Signal(object)
    failed = Signal(str, str)
    refused = Signal()

    def __init__(self, path: Path, opener: OpenRecorder, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._recorder = opener(path)
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._leaving = threading.Event()
        self._reported = ""
        self._thread = threading.Thread(target=self._work, name=f"recorder of {path.name}")
        self._thread.start()

    @property
    def path(self) -> Path | None:
        """The session's file, None while there is none."""
        return self._recorder.path if self._recorder.created else None

    @property
    def finished(self) -> bool:
        """Whether everything was written and the file is closed."""
        return not self._thread.is_alive()

    def record(self, event: Event) -> None:
        """Have one event written; returns at once."""
        self._queue.put(event)

    def finish(self) -> None:
        """Write what waits, then close the file; returns at once."""
        self._queue.put(None)

    def wait(self) -> None:
        """After `finish`: try once more if need be, and return when the file is closed."""
        self._leaving.set()
        self._thread.join()

    def _work(self) -> None:
        recorder, told = self._recorder, False
        while (event := self._queue.get()) is not None:
            self._attempt(partial(recorder.record, event))
            if not told and recorder.created:
                told = True
                self.created.emit(recorder.path)
        while not self._attempt(recorder.catch_up) and not self._leaving.wait(RETRY_S):
            pass
        self._attempt(recorder.close)

    def _attempt(self, write: Callable[[], None]) -> bool:
        try:
            write()
        except Exception as error:  # noqa: BLE001 - whatever the disk or SQLite says, the sweep goes on
            if str(error) != self._reported:
                self._reported = str(error)
                told = "" if isinstance(error, MovedFileError | TakenFileError) else CATCHES_UP
                self.failed.emit(f"{error}{told}", f"{type(error).__name__}: {error}\n{self._recorder.path}")
            if isinstance(error, TakenFileError):
                self.refused.emit()
            return False
        return True
