"""From a bar of a timeline to a trace with its tile: one head, in the kernel's own tiles."""

from msgspec.structs import replace

from flashscope.app.stepper.backward.requests import NO_TILE, backward_of_bar
from flashscope.app.stepper.from_point import as_launched
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.launching.tracing import check_traceable
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import NO_PLACE, StageTimeline
from flashscope.kernels.workload.trace import Array, TraceRequest
from flashscope.profiles.plan.machine import Machine

NO_ROOM = "There is no trace of {} as it is timed on this problem, or it has no room."
SHARED = "Heads share this tile: a GPU alone traces it."

Tile = tuple[int, int, int]


def why_no_trace(timeline: StageTimeline, tile: Tile, machine: Machine | None) -> str:
    """Why a bar's tile cannot be stepped through here, in one sentence; empty: it can.

    Args:
        timeline: Of a forward or a backward pass.
        tile: Head, i and j of the bar.
        machine: This one; None: it is not known yet.
    """
    if timeline.request.problem.passes == "backward":
        found = backward_of_bar(timeline, tile, machine)
        return found if isinstance(found, str) else ""
    traced = trace_of_bar(timeline, tile, machine)
    return traced if isinstance(traced, str) else ""


def trace_of_bar(timeline: StageTimeline, tile: Tile, machine: Machine | None) -> TraceRequest | str:
    """The trace with a bar's tile, of a forward pass; a sentence: why there is none.

    Of a GPU's timeline it is the timed kernel's own; without a GPU here, and of a CPU's, the NumPy kernel's
    in the tiles of the timeline, which still lacks the head's Q, K and V.
    """
    if NO_PLACE in tile:
        return NO_TILE
    asked = timeline.request
    device = None if machine is None else machine.device("cuda")
    if asked.backend == "cuda" and device is not None:
        launched = as_launched(asked.kernel, asked.problem, device)
        return NO_ROOM.format(asked.kernel) if launched is None else replace(launched, head=tile[0])
    request = _request(timeline)
    try:
        check_traceable(request)
    except (InputError, UnsupportedError) as error:
        return str(error)
    rows, keys = request.grid
    return request if tile[1] < rows and tile[2] < keys else SHARED


def trace_of_head(timeline: StageTimeline, head: int) -> TraceRequest:
    """What to trace on the CPU: this head, with its own Q, K and V where it is one of several.

    Drawing them takes as long as drawing those of all heads.
    """
    request, problem = _request(timeline), replace(timeline.request.problem, dtype="float32")
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
    return replace(problem, batch=1, heads=1, kv_heads=None, dtype="float32", page_size=None)
