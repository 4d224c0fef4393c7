"""Writes a running session to its file from a thread of its own: a slow disk must not stop the window."""

import queue
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from profiles.events import Event


class EventRecorder(Protocol):
    """What writes events to one file; an event whose writing raises counts as unwritten."""

    def record(self, event: Event) -> None:
        """Write one event durably."""

    def close(self) -> None:
        """Close the file."""


OpenRecorder = Callable[[Path], EventRecorder]


def open_recorder(path: Path) -> EventRecorder:
    """A recorder of a new session file."""
    from profiles.store import Recorder  # noqa: PLC0415 - SQLite when a sweep starts

    return Recorder(path)


class RecordingWriter(QObject):
    """Records one session's events in order.

    An event that cannot be written is kept, and so is everything after it; the next event and the end try
    again. So a disk that is full for a while costs nothing, one that stays full only what came after.

    Attributes:
        path: The session's file.

    Signals:
        failed: The first failure: one sentence, and details (str, str).
    """

    failed = Signal(str, str)

    def __init__(self, path: Path, opener: OpenRecorder, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path
        self._open = opener
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._backlog: deque[Event] = deque()
        self._reported = False
        self._thread = threading.Thread(target=self._work, name=f"recorder of {path.name}", daemon=True)
        self._thread.start()

    @property
    def unsaved(self) -> int:
        """How many events could not be written so far."""
        return len(self._backlog)

    def record(self, event: Event) -> None:
        """Have one event written; returns at once."""
        self._queue.put(event)

    def close(self) -> None:
        """Write everything that waits and close the file; returns when it is on the disk."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        recorder: EventRecorder | None = None
        while (event := self._queue.get()) is not None:
            self._backlog.append(event)
            recorder = self._write(recorder)
        if self._backlog:
            recorder = self._write(recorder)
        if recorder is not None:
            recorder.close()

    def _write(self, recorder: EventRecorder | None) -> EventRecorder | None:
        try:
            recorder = recorder or self._open(self.path)
            while self._backlog:
                recorder.record(self._backlog[0])
                self._backlog.popleft()
        except Exception as error:  # noqa: BLE001 - whatever the disk or SQLite says, the sweep goes on
            self._report(error)
        return recorder

    def _report(self, error: Exception) -> None:
        if not self._reported:
            self._reported = True
            self.failed.emit(
                f"{self.path.name} cannot be written: {error}. The sweep goes on in memory; free some space "
                "or make the folder writable, and the file catches up.",
                f"{type(error).__name__}: {error}\n{self.path}",
            )
