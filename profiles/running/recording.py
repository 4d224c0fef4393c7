"""Writes the events of one run to its session's file, at once or from a thread of its own."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from flashscope.profiles.store import MovedFileError, TakenFileError
from flashscope.profiles.wire.events import Event

RETRY_S = 5.0  # between two attempts once the run is over


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


@dataclass(frozen=True)
class FileMade:
    """The file of a run is there.

    Attributes:
        path: The file.
    """

    path: Path


@dataclass(frozen=True)
class FileTrouble:
    """Something could not be written.

    Attributes:
        error: What the recorder raised; a SessionFileError says what is wrong and what to do.
        path: The file.
    """

    error: Exception
    path: Path

    @property
    def text(self) -> str:
        """What is wrong, in one sentence."""
        return str(self.error) or type(self.error).__name__

    @property
    def passing(self) -> bool:
        """Whether the file may catch up with a later attempt."""
        return not isinstance(self.error, MovedFileError | TakenFileError)


FileNote = FileMade | FileTrouble


class RunRecording:
    """Records the events of one run in order, each before `record` returns.

    Nothing that the recorder raises gets out: it is told, the run goes on, and what could not be written is
    tried again with the next event.

    Args:
        recorder: Writes the file.
        tell: Takes what became of the file; of one trouble after another of the same text, the first.

    Attributes:
        refused: Whether the file is another's: no later attempt can be better.
        finished: Whether everything was written that could be, and the file is closed.
    """

    def __init__(self, recorder: EventRecorder, tell: Callable[[FileNote], None]) -> None:
        self._recorder, self._tell = recorder, tell
        self.refused = self.finished = False
        self._made = False
        self._told = ""

    @property
    def path(self) -> Path | None:
        """The session's file, None while there is none."""
        return self._recorder.path if self._recorder.created else None

    def record(self, event: Event) -> None:
        """Write one event."""
        self._attempt(partial(self._recorder.record, event))

    def finish(self) -> None:
        """Write what waits and close the file."""
        self._attempt(self._recorder.close)
        self.finished = True

    def wait(self) -> None:
        """After `finish`: return when the file is closed."""

    def _attempt(self, write: Callable[[], None]) -> bool:
        try:
            write()
        except Exception as error:  # noqa: BLE001 - whatever the disk or SQLite says, the run goes on
            trouble = FileTrouble(error, self._recorder.path)
            self.refused = isinstance(error, TakenFileError)
            if trouble.text != self._told:
                self._told = trouble.text
                self._tell(trouble)
            return False
        finally:
            self._tell_made()
        return True

    def _tell_made(self) -> None:
        if not self._made and self._recorder.created:
            self._made = True
            self._tell(FileMade(self._recorder.path))


class BackgroundRecording(RunRecording):
    """Records from a thread of its own: a slow disk holds nobody up. Every method but `wait` returns at once.

    After the last event it goes on trying until everything is written or waited for: a disk that is full for
    a while costs nothing. `tell` is called on the recording's thread.
    """

    def __init__(self, recorder: EventRecorder, tell: Callable[[FileNote], None]) -> None:
        super().__init__(recorder, tell)
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"recorder of {recorder.path.name}")
        self._thread.start()

    def record(self, event: Event) -> None:
        """Have one event written."""
        self._queue.put(event)

    def finish(self) -> None:
        """Have what waits written, then the file closed."""
        self._queue.put(None)

    def wait(self) -> None:
        """After `finish`: try once more if need be, and return when the file is closed."""
        self._leaving.set()
        self._thread.join()

    def _work(self) -> None:
        while (event := self._queue.get()) is not None:
            super().record(event)
        while not self._attempt(self._recorder.catch_up) and not self._leaving.wait(RETRY_S):
            pass
        super().finish()
