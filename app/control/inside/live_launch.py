"""A launch in slow motion: asked of the engine, and followed tile by tile."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from flashscope.kernels.workload.live import LiveRequest
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.wire.events import Event, RequestFailed
from flashscope.profiles.wire.live_events import LiveEnded, LiveStarted, LiveTiles


class LiveLaunch(QObject):
    """Asks for one launch at a time, and tells what becomes of it.

    Attributes:
        asked: What runs, or is to run; None: nothing does.

    Signals:
        began: It runs now (LiveStarted).
        progressed: Tiles are done (LiveTiles).
        ended: All are (LiveEnded).
        stopped: It ended before that, for this reason (str).
        changed: Something else is asked for, or nothing any more.

    Args:
        engine: Gives the engine that runs it.
        parent: Its owner.
    """

    began = Signal(object)
    progressed = Signal(object)
    ended = Signal(object)
    stopped = Signal(str)
    changed = Signal()

    def __init__(self, engine: Callable[[], Engine], parent: QObject) -> None:
        super().__init__(parent)
        self.asked: LiveRequest | None = None
        self._engine = engine

    def ask(self, request: LiveRequest) -> None:
        """Launch this, unless one runs."""
        if self.asked is None:
            self.asked = request
            self._engine().live(request)
            self.changed.emit()

    def give_up(self) -> None:
        """End the launch, within a second."""
        if self.asked is not None:
            self._engine().give_up_live()

    def take(self, event: Event) -> bool:
        """Take in what an engine says; returns whether it is about a launch, and so of no session."""
        match event:
            case LiveStarted():
                self.began.emit(event)
            case LiveTiles():
                self.progressed.emit(event)
            case LiveEnded():
                self.asked = None
                self.ended.emit(event)
                self.changed.emit()
            case RequestFailed(request="live"):
                self.asked = None
                self.stopped.emit(event.reason)
                self.changed.emit()
            case _:
                return False
        return True
