"""Timelines: asked of the engine one at a time."""

from PySide6.QtCore import Signal

from flashscope.app.control.inside.one_by_one import OneByOne
from flashscope.kernels.workload.timeline import StageTimeline, TimelineRequest
from flashscope.profiles.wire.events import Event, TimelineProgress, TimelineReady


class Timelines(OneByOne[TimelineRequest]):
    """Asks for timelines in turn, and leads from one to other views.

    Signals:
        tile_asked: The Stepper is to show this tile (i, j) of a trace (TraceRequest, tuple of int).
        backward_tile_asked: The same of a backward pass: the query head in its group, i and j
            (BackwardTraceRequest, tuple of int).
        stage_asked: The source of a kernel is to be shown for the problems of a curve with these lines marked
            (str, str, tuple of str).
    """

    tile_asked = Signal(object, object)
    backward_tile_asked = Signal(object, object)
    stage_asked = Signal(str, str, object)
    kind, progress = "timeline", TimelineProgress

    def _start(self, request: TimelineRequest) -> None:
        self._engine().timeline(request)

    def _stop(self) -> None:
        self._engine().give_up_timeline()

    def _answer(self, event: Event) -> StageTimeline | None:
        return event.timeline if isinstance(event, TimelineReady) else None
