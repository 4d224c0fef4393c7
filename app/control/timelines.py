"""Timelines: asked of the engine one at a time."""

from collections import deque
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.wire.events import Event, RequestFailed, TimelineProgress, TimelineReady


class Timelines(QObject):
    """Asks for timelines in turn, and tells what becomes of them.

    Attributes:
        asked: What is being recorded now, None: nothing is.

    Signals:
        progressed: Of what is recorded so many rounds are done, of so many (int, int).
        ready: One was recorded (StageTimeline).
        failed: One could not be, for this reason, with details (str, str); what was to follow is dropped.
        changed: Something else is being recorded, or nothing any more.
        tile_asked: The Stepper is to show this tile (i, j) of a trace (TraceRequest, tuple of int).
        stage_asked: The source of a kernel is to be shown for the problems of a curve with these lines marked
            (str, str, tuple of str).

    Args:
        engine: Gives the engine that records.
        parent: Its owner.
    """

    progressed = Signal(int, int)
    ready = Signal(object)
    failed = Signal(str, str)
    changed = Signal()
    tile_asked = Signal(object, object)
    stage_asked = Signal(str, str, object)

    def __init__(self, engine: Callable[[], Engine], parent: QObject) -> None:
        super().__init__(parent)
        self.asked: TimelineRequest | None = None
        self._engine = engine
        self._waiting: deque[TimelineRequest] = deque()
        self._given_up = False

    def ask(self, requests: Sequence[TimelineRequest]) -> None:
        """Record these, one after the other, after what is asked for already."""
        self._waiting.extend(requests)
        if self.asked is None:
            self._next()

    def give_up(self) -> None:
        """Record no more; what is in flight ends after its round."""
        self._waiting.clear()
        if self.asked is not None:
            self._given_up = True
            self._engine().give_up_timeline()

    def take(self, event: Event) -> bool:
        """Take in what an engine says; returns whether it is about timelines, and so of no session."""
        match event:
            case TimelineProgress(done=done, total=total):
                self.progressed.emit(done, total)
            case TimelineReady(timeline=timeline):
                self.ready.emit(timeline)
                self._next()
            case RequestFailed(request="timeline"):
                self._waiting.clear()
                if not self._given_up:
                    self.failed.emit(event.reason, event.detail)
                self._next()
            case _:
                return False
        return True

    def _next(self) -> None:
        self._given_up = False
        self.asked = self._waiting.popleft() if self._waiting else None
        if self.asked is not None:
            self._engine().timeline(self.asked)
        self.changed.emit()
