"""What to trace of a backward pass: that of a trace on show, of a point, or of a bar of a timeline."""

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace as with_fields

from flashscope.app.words.units import thousands
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.program import Target
from flashscope.kernels.cuda.traced.backward import backward_cut
from flashscope.kernels.launching.backward_tracing import backward_problem, check_backward_traceable
from flashscope.kernels.workload.backward_trace import BACKWARD_KERNELS, BackwardKernel, BackwardTraceRequest
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import NOT_TRACED, Backend, Problem
from flashscope.kernels.workload.timeline import NO_PLACE, StageTimeline
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.plan.machine import Machine

GIVEN = (
    "Q, K and V of this trace are given: the backward pass is traced of drawn ones. Choose another preset."
)
FAULTY = "The backward pass of a kernel that is broken on purpose is not traced."
NO_TILE = "This bar belongs to no one tile."
ON_CPU: tuple[BackwardKernel, ...] = ("flash1", "flash2")
TILE = 32  # Br and Bc on a CPU
LONGEST = 256  # there: each tile keeps its part of dQ, dK and dV, too
MOST_HEADS = 2  # query heads of a K/V head there


@dataclass(frozen=True)
class PointBackward:
    """A point of a sweep whose backward pass is traced.

    Attributes:
        title: The point, short.
        request: What is traced.
        changes: What it differs in from the point, each in a sentence.
    """

    title: str
    request: BackwardTraceRequest
    changes: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is shown in its place, in sentences."""
        return " ".join((f"Inside the backward pass of {self.title}.", *self.changes))


def backward_of_trace(
    trace: Trace, kernel: BackwardKernel | None = None, *, gpu: bool = False
) -> BackwardTraceRequest | str:
    """The backward pass of what a trace is of, of the same head or heads; a sentence: why there is none.

    Of a trace of a GPU it is a timed kernel's, in 16 bits and in tiles of its own.

    Args:
        trace: Of a forward pass.
        kernel: Whose backward pass; None: that of the traced one, or of its loop order.
        gpu: Whether there is a GPU here, for a kernel that runs on nothing else.
    """
    asked = trace.request
    if asked.inputs is not None:
        return GIVEN
    if asked.fault:
        return FAULTY
    own = next((one for one in BACKWARD_KERNELS if one == asked.kernel), None)
    found = kernel or own or asked.order
    problem = backward_problem(asked.problem)
    on_gpu = asked.backend == "cuda" or (gpu and found not in ON_CPU)
    if on_gpu and problem.dtype == "float32":
        problem = with_fields(problem, dtype="float16")
    request = BackwardTraceRequest(
        problem=problem,
        backend="cuda" if on_gpu else "cpu",
        kernel=found,
        head=asked.head // (problem.heads // problem.key_heads),
        block_q=min(asked.block_q, problem.seqlen_q) if not asked.kernel else TILE,
        block_k=min(asked.block_k, problem.seqlen_k) if not asked.kernel else TILE,
    )
    return why_not(request, None) or request


def backward_of_point(
    kernel: str, problem: Problem, backend: Backend, machine: Machine | None, *, measuring: bool = False
) -> PointBackward | str:
    """A point's backward pass as this machine can trace it; a sentence: why it cannot.

    On a GPU it is the kernel itself on the whole problem, wherever such a trace has room.

    Args:
        kernel: The point's.
        problem: The point's.
        backend: Where it was measured.
        machine: This one; None: it is not known yet.
        measuring: Whether a sweep runs, for whose end a trace on the GPU would wait.
    """
    own = next((one for one in BACKWARD_KERNELS if one == kernel), None)
    device = None if machine is None else machine.device("cuda")
    title, changes = f"{kernel} at N = {thousands(problem.seqlen)}", []
    if backend == "cuda" and device is not None and not measuring and own is not None:
        request = BackwardTraceRequest(problem=backward_problem(problem), backend="cuda", kernel=own)
        if not why_not(request, device):
            return PointBackward(title, request, ())
        changes.append("On the CPU: on the GPU the trace of the whole problem has no room, or there is none.")
    elif backend == "cuda":
        changes.append("On the CPU: the GPU measures." if measuring else "On the CPU: no GPU traces it here.")
    stand_in: BackwardKernel = next((one for one in ON_CPU if one == kernel), "flash2")
    if stand_in != kernel:
        changes.append(f"{stand_in} in the place of {kernel}, which has no such trace on a CPU.")
    short, changed = _shortened(problem)
    rows, keys = min(TILE, short.seqlen_q), min(TILE, short.seqlen_k)
    request = BackwardTraceRequest(problem=short, kernel=stand_in, block_q=rows, block_k=keys)
    changed.append(f"Tiles of {request.block_q} × {request.block_k}, so that there are several.")
    return why_not(request, None) or PointBackward(title, request, (*changes, *changed))


def why_not(request: BackwardTraceRequest, device: Device | None) -> str:
    """Why a backward pass cannot be traced, in a sentence; empty: it can, as far as is known.

    Args:
        request: What is asked for.
        device: The GPU, for a request of one; None: it is not known, and looks itself.
    """
    try:
        if request.backend == "cpu":
            cpu = Device(backend="cpu", name="", memory_bytes=1)
            reason = find_kernel(request.kernel).unsupported_backward(request.problem, cpu)
            if reason:
                return f"{reason}."
            check_backward_traceable(request)
        elif device is not None and device.compute_capability and device.shared_memory_per_block:
            reason = find_kernel(request.kernel).unsupported_backward(request.problem, device)
            if reason:
                return f"{reason}."
            limits = device.compute_capability, device.shared_memory_per_block, device.multiprocessors
            cut = backward_cut(request, Target(*limits))
            check_backward_traceable(cut.asked, cut.dq_asked)
    except (InputError, UnsupportedError) as error:
        return str(error)
    return ""


def backward_of_bar(
    timeline: StageTimeline, tile: tuple[int, int, int], machine: Machine | None
) -> BackwardTraceRequest | str:
    """The trace with a bar's tile, of a timeline of a backward pass; a sentence: why there is none.

    Without a GPU here it is the NumPy kernel's in float32, in the tiles of the timeline.
    """
    if NO_PLACE in tile:
        return NO_TILE
    asked, problem = timeline.request, timeline.request.problem
    kernel = next((one for one in BACKWARD_KERNELS if one == asked.kernel), None)
    if kernel is None:
        return f"{asked.kernel} has no trace of its backward pass."
    head = tile[0] // (problem.heads // problem.key_heads)
    request = BackwardTraceRequest(problem=problem, backend=asked.backend, kernel=kernel, head=head)
    device = None if machine is None else machine.device("cuda")
    if asked.backend == "cuda" and device is None:
        request = with_fields(on_cpu(request), block_q=timeline.block_q, block_k=timeline.block_k)
    return why_not(request, device) or request


def on_cpu(request: BackwardTraceRequest) -> BackwardTraceRequest:
    """The same of the NumPy kernel that stands nearest, in float32 and in smaller tiles."""
    problem = with_fields(request.problem, dtype="float32", deterministic=False)
    kernel: BackwardKernel = "flash1" if request.kernel == "flash1" else "flash2"
    return with_fields(request, problem=problem, backend="cpu", kernel=kernel, block_q=TILE, block_k=TILE)


def place_of_bar(timeline: StageTimeline, tile: tuple[int, int, int]) -> tuple[int, int, int]:
    """Which tile of such a trace a bar is of: the query head in the group, i and j."""
    problem = timeline.request.problem
    return tile[0] % (problem.heads // problem.key_heads), tile[1], tile[2]


def _shortened(problem: Problem) -> tuple[Problem, list[str]]:
    """A problem that a CPU traces: float32, one K/V head, short sequences; and what that changes."""
    changes, fields = [], dict[str, Any]()
    group = problem.heads // problem.key_heads
    heads = min(group, MOST_HEADS)
    if problem.batch * problem.key_heads > 1 or heads < group:
        changes.append(f"One K/V head of {problem.batch * problem.key_heads}, met by {heads} of Q.")
    fields |= {"batch": 1, "heads": heads, "kv_heads": 1, "dtype": "float32", "deterministic": False}
    if problem.dtype != "float32":
        changes.append(f"float32 in the place of {problem.dtype}: a CPU traces in that alone.")
    untraced = problem.features & NOT_TRACED
    if untraced or not problem.even or problem.page_size is not None or problem.block_mask is not None:
        changes.append("Without what only the timed kernels compute: lengths, pages, block masks and terms.")
    fields |= {"softcap": None, "sinks": False, "alibi": False, "head_dim_v": None, "block_mask": None}
    fields |= {"query_lengths": None, "key_lengths": None, "page_size": None}
    longer = max(problem.seqlen_q, problem.seqlen_k)
    if longer > LONGEST:
        share = LONGEST / longer
        rows, keys = (max(TILE, round(one * share)) for one in (problem.seqlen_q, problem.seqlen_k))
        changes.append(
            f"N = {thousands(max(rows, keys))} in the place of {thousands(longer)}: all tiles are kept."
        )
        fields |= {"seqlen_q": rows, "seqlen_k": keys}
        if problem.window is not None:
            fields["window"] = tuple(one if one < 0 else round(one * share) for one in problem.window)
    return backward_problem(with_fields(problem, **fields)), changes
