"""From a bar of a timeline to its tile in the Stepper: of a forward pass, or of a backward one."""

from collections.abc import Callable
from functools import partial

from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.stepper.backward.requests import backward_of_bar, place_of_bar
from flashscope.app.stepper.one_tile import trace_of_bar, trace_of_head, why_no_trace
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.kernels.workload.trace import TraceRequest


def step_through(
    timeline: StageTimeline,
    tile: tuple[int, int, int],
    controller: Controller,
    chores: Chores,
    show: Callable[[], None],
) -> None:
    """Show a tile in the Stepper; on the CPU once its head's Q, K and V are drawn.

    Args:
        timeline: Whose tile.
        tile: Head, i and j.
        controller: Tells the Stepper.
        chores: Draws beside the window.
        show: Brings the Stepper to the front.
    """
    told, machine = controller.timelines, controller.machine
    if why_no_trace(timeline, tile, machine):
        return
    show()
    if timeline.request.problem.passes == "backward":
        found = backward_of_bar(timeline, tile, machine)
        if isinstance(found, BackwardTraceRequest):
            told.backward_tile_asked.emit(found, place_of_bar(timeline, tile))
        return
    (head, i, j), traced = tile, trace_of_bar(timeline, tile, machine)
    if isinstance(traced, TraceRequest) and traced.backend == "cuda":
        told.tile_asked.emit(traced, (i, j))
        return
    draw = partial(trace_of_head, timeline, head)
    chores.do(draw, lambda request: told.tile_asked.emit(request, (i, j)))
