"""From a bar of a timeline to a trace with its tile: one head, in the kernel's own tiles."""

from msgspec.structs import replace

from flashscope.app.stepper.backward.requests import NO_TILE, backward_of_bar
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.launching.tracing import check_traceable
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import NO_PLACE, StageTimeline
from flashscope.kernels.workload.trace import Array, TraceRequest
from flashscope.profiles.plan.machine import Machine


def why_no_trace(timeline: StageTimeline, tile: tuple[int, int, int], machine: Machine | None) -> str:
    """Why a bar's tile cannot be stepped through here, in one sentence; empty: it can."""
    if NO_PLACE in tile:
        return NO_TILE
    if timeline.request.problem.passes == "backward":
        found = backward_of_bar(timeline, tile, machine)
        return found if isinstance(found, str) else ""
    if timeline.request.backend != "cpu":
        return "Tiles of a timeline of the CPU alone are stepped through."
    try:
        check_traceable(_request(timeline))
    except (InputError, UnsupportedError) as error:
        return str(error)
    return ""


def trace_of_head(timeline: StageTimeline, head: int) -> TraceRequest:
    """What to trace: this head, with its own Q, K and V where it is one of several.

    Drawing them takes as long as drawing those of all heads.
    """
    request, problem = _request(timeline), timeline.request.problem
    if problem.batch * problem.heads == 1:
        return request
    drawn, (batch, h) = make_inputs(problem, "cpu"), divmod(head, problem.heads)
    kv = h // (problem.heads // problem.key_heads)
    mine = drawn.q[batch, h], drawn.k[batch, kv], drawn.v[batch, kv]
    q, k, v = map(Array.of, mine)
    return replace(request, inputs=(q, k, v))


def _request(timeline: StageTimeline) -> TraceRequest:
    """The same without Q, K and V."""
    return TraceRequest(
        problem=_one_head(timeline.request.problem),
        order="flash1" if timeline.request.kernel == "flash1" else "flash2",
        block_q=timeline.block_q,
        block_k=timeline.block_k,
    )


def _one_head(problem: Problem) -> Problem:
    return replace(problem, batch=1, heads=1, kv_heads=None)
