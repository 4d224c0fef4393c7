"""Writes a running session to its file from a thread of its own: a slow disk must not stop the window."""

import queue
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from profiles.wire.events import Event, PlanStarted


class EventRecorder(Protocol):
    """What writes events to one file; an event whose writing raises is kept and tried again with the next."""

    def record(self, event: Event) -> None:
        """Write one event durably."""

    def close(self) -> None:
        """Close the file."""


OpenRecorder = Callable[[Path], EventRecorder]


class RecordingWriter(QObject):
    """Records one session's events in order.

    What cannot be written is tried again with the next event and at the end: the recorder does so for the
    events of a file it could create, this class for the file itself. A disk full for a while costs nothing.

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
        self._thread = threading.Thread(target=self._work, name=f"recorder of {path.name}")
        self._thread.start()

    @property
    def finished(self) -> bool:
        """Whether everything was tried and the file is closed."""
        return not self._thread.is_alive()

    def record(self, event: Event) -> None:
        """Have one event written; returns at once."""
        self._queue.put(event)

    def finish(self) -> None:
        """Write what waits, then close the file; returns at once."""
        self._queue.put(None)

    def wait(self) -> None:
        """After `finish`: return when the file is closed."""
        self._thread.join()

    def _work(self) -> None:
        recorder = self._open(self.path)
        while (event := self._queue.get()) is not None:
            self._backlog.append(event)
            self._attempt(lambda: self._write(recorder))
        self._attempt(lambda: self._write(recorder))
        self._attempt(recorder.close)

    def _write(self, recorder: EventRecorder) -> None:
        while self._backlog:
            event = self._backlog[0]
            try:
                recorder.record(event)
            except Exception:
                if not isinstance(event, PlanStarted):
                    self._backlog.popleft()  # the recorder keeps it and tries again
                raise
            self._backlog.popleft()

    def _attempt(self, write: Callable[[], None]) -> None:
        try:
            write()
        except Exception as error:  # noqa: BLE001 - whatever the disk or SQLite says, the sweep goes on
            if not self._reported:
                self._reported = True
                self.failed.emit(
                    f"{error} The sweep goes on, and the file catches up once it can be written.",
                    f"{type(error).__name__}: {error}\n{self.path}",
                )
