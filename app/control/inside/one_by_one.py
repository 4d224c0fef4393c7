"""What is asked of the engine one at a time, told of as it goes on, and given up as a whole."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.wire.events import Event, RequestFailed, StallsProgress, TimelineProgress

Asked = TypeVar("Asked")


class OneByOne(QObject, Generic[Asked]):
    """Asks for recordings of a kind in turn, and tells what becomes of them.

    Attributes:
        asked: What is being recorded now, None: nothing is.

    Signals:
        progressed: Of what is recorded so many steps are done, of so many (int, int).
        ready: One was recorded (what it is).
        failed: One could not be, for this reason, with details (str, str); what was to follow is dropped.
        changed: Something else is being recorded, or nothing any more.

    Args:
        engine: Gives the engine that records.
        parent: Its owner.
    """

    progressed = Signal(int, int)
    ready = Signal(object)
    failed = Signal(str, str)
    changed = Signal()
    kind: ClassVar[str]
    """What a RequestFailed calls it."""
    progress: ClassVar[type[TimelineProgress | StallsProgress] | tuple[()]] = ()
    """Events that tell how far it is; none: it is done in one step."""

    def __init__(self, engine: Callable[[], Engine], parent: QObject) -> None:
        super().__init__(parent)
        self.asked: Asked | None = None
        self._engine = engine
        self._waiting: deque[Asked] = deque()
        self._given_up = False

    def ask(self, requests: Sequence[Asked]) -> None:
        """Record these, one after the other, after what is asked for already."""
        self._waiting.extend(requests)
        if self.asked is None:
            self._next()

    def give_up(self) -> None:
        """Record no more; what is in flight ends after its step."""
        self._waiting.clear()
        if self.asked is not None:
            self._given_up = True
            self._stop()

    def take(self, event: Event) -> bool:
        """Take in what an engine says; returns whether it is about these, and so of no session."""
        made = self._answer(event)
        if isinstance(event, self.progress):
            self.progressed.emit(event.done, event.total)
        elif made is not None:
            self.ready.emit(made)
            self._next()
        elif isinstance(event, RequestFailed) and event.request == self.kind:
            self._waiting.clear()
            if not self._given_up:
                self.failed.emit(event.reason, event.detail)
            self._next()
        else:
            return False
        return True

    def _next(self) -> None:
        self._given_up = False
        self.asked = self._waiting.popleft() if self._waiting else None
        if self.asked is not None:
            self._start(self.asked)
        self.changed.emit()

    def _start(self, request: Asked) -> None:
        """Have one recorded."""
        raise NotImplementedError

    def _stop(self) -> None:
        """Have what is recorded given up."""
        raise NotImplementedError

    def _answer(self, event: Event) -> object | None:
        """What was recorded, if the event brings it."""
        raise NotImplementedError
