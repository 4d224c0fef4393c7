"""From a point of a sweep to a trace of its kernel: which one stands for it, and what is changed of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import get_args

from msgspec.structs import replace as with_fields

from flashscope.app.stepper.presets import MAX_SEQLEN
from flashscope.app.words.units import thousands
from flashscope.kernels.catalogue.registry import find_kernel, known_kernel
from flashscope.kernels.catalogue.spec import listed
from flashscope.kernels.cuda.instrument import timed_cut
from flashscope.kernels.cuda.program import Target
from flashscope.kernels.launching.tracing import MAX_TRACE_BYTES, check_traceable
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import NOT_TRACED, UNBOUNDED, Backend, Problem
from flashscope.kernels.workload.trace import LoopOrder, TimedKernel, TraceRequest
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.model.curves import counted_noun

TILE = 32  # Br and Bc: the kernels' own would be few at these lengths
FEWEST_TILES = 8  # along N, where N is shorter still
FEWEST_ROWS = 16  # of queries, where there are as many: to have few is the point of decoding
WHOLE = "standard"  # holds S and P whole, and is shown by Lanes alone
BESIDE = "Lanes shows it beside flash1 and flash2"
FORWARD_ALONE = "The forward pass alone."


@dataclass(frozen=True)
class StandIn:
    """The traced kernel that stands nearest to a kernel.

    Attributes:
        kernel: Its name.
        order: The loop order that is traced; beside `standard`, which has none, that of flash2.
        timed: The timed kernel that is traced on a GPU; empty: the loop order.
        why: Why it is not the kernel itself, in a sentence; empty: it is.
    """

    kernel: str
    order: LoopOrder = "flash2"
    timed: TimedKernel = ""
    why: str = ""


@dataclass(frozen=True)
class PointTrace:
    """A point of a sweep as it is traced.

    Attributes:
        kernel: The point's.
        problem: The point's.
        request: What is traced.
        stand_in: Which kernel that shows.
        changes: What it differs in from the point, each in a sentence.
    """

    kernel: str
    problem: Problem
    request: TraceRequest
    stand_in: StandIn
    changes: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether the kernel holds S and P whole: of the modes Lanes alone shows it."""
        return self.stand_in.kernel == WHOLE

    @property
    def lack(self) -> str:
        """Why it cannot be traced after all, in a sentence; empty: it can."""
        try:
            check_traceable(self.request)
        except (InputError, UnsupportedError) as error:
            return str(error)
        return ""

    @property
    def title(self) -> str:
        """The point, short."""
        return f"{self.kernel} at N = {thousands(self.problem.seqlen)}"

    @property
    def words(self) -> str:
        """What is shown in its place, in sentences."""
        return " ".join(filter(None, (f"Inside {self.title}.", self.stand_in.why, *self.changes)))


def trace_of_point(
    kernel: str,
    problem: Problem,
    backend: Backend,
    machine: Machine | None,
    *,
    measuring: bool = False,
    recorded: str = "",
) -> PointTrace:
    """One head of a point's problem, as this machine can trace it and the Stepper can show it.

    On a GPU it is the kernel itself on the whole problem, wherever such a trace has room.

    Args:
        kernel: The point's, of any version.
        problem: The point's.
        backend: Where it was measured.
        machine: This one; None: it is not known yet.
        measuring: Whether a sweep runs, for whose end a trace on the GPU would wait.
        recorded: The name of a recording with traces of the kernels that are traced as they are timed.
    """
    changes: list[str] = []
    here: Backend = "cpu"
    if backend == "cuda":
        if machine is None or machine.device("cuda") is None:
            changes.append("On the CPU: there is no GPU here that can be used.")
        elif measuring:
            changes.append("On the CPU: the GPU measures.")
        else:
            here = "cuda"
    device = None if machine is None else machine.device("cuda")
    launched = as_launched(kernel, problem, device) if here == "cuda" and device is not None else None
    if launched is not None:
        stand_in = StandIn(kernel, order=launched.order, timed=launched.kernel)
        left = [FORWARD_ALONE] if problem.passes != "forward" else []
        return PointTrace(kernel, problem, launched, stand_in, tuple(left))
    shorter, changed = shortened(problem, MAX_SEQLEN, "a trace keeps every score of a head")
    stand_in = stand_in_for(kernel, shorter, here)
    traced, left = _one_head(shorter, stand_in, here)
    request = _request(traced, here, stand_in.order, stand_in.timed)
    if not stand_in.timed:
        left.append(f"Tiles of {request.block_q} × {request.block_k}, so that there are several.")
    if recorded and changes and kernel in get_args(TimedKernel):
        left.append(f"As it is timed on a GPU {kernel} is traced in the recording “{recorded}”.")
    return PointTrace(kernel, problem, request, stand_in, (*changes, *changed, *left))


def as_launched(kernel: str, problem: Problem, device: Device) -> TraceRequest | None:
    """A trace of the kernel as it is timed on the whole problem; None: it has no room, or there is none.

    It looks at the first head, of the first sequence that has something to compute.
    """
    timed: TimedKernel | None = next((one for one in get_args(TimedKernel)[1:] if one == kernel), None)
    limits = device.compute_capability, device.shared_memory_per_block
    if timed is None or problem.dtype == "float32" or limits[0] is None or limits[1] is None:
        return None
    forward = with_fields(problem, passes="forward", deterministic=False)
    if find_kernel(timed).unsupported(forward, device) or not forward.sequences:
        return None
    head = min(forward.sequences) * forward.heads
    if 4 * forward.sequences[head // forward.heads].mask.kept_pairs() > MAX_TRACE_BYTES:
        return None  # S alone is larger, and need not be cut into tiles to know it
    asked = TraceRequest(problem=forward, backend="cuda", kernel=timed, head=head)
    try:
        taken = timed_cut(timed, forward, Target(limits[0], limits[1], device.multiprocessors)).of(asked)
        check_traceable(taken)
    except (InputError, UnsupportedError):
        return None
    return with_fields(asked, order=taken.order)


def again(found: PointTrace, backend: Backend, order: LoopOrder) -> TraceRequest:
    """The same head on another backend, or in the other loop order."""
    asked = found.request
    if (asked.backend, asked.order) == (backend, order):
        return asked
    dtype = "float32" if backend == "cpu" else found.problem.dtype
    problem = with_fields(asked.problem, dtype=dtype)
    own = _itself(order, problem, backend)
    return _request(problem, backend, order, own.timed if own is not None else "")


def is_of(request: TraceRequest, found: PointTrace) -> bool:
    """Whether a trace is of that head, in whichever element type and loop order."""
    one, other = (with_fields(asked.problem, dtype="float32") for asked in (request, found.request))
    return one == other and request.inputs is None


def _request(problem: Problem, backend: Backend, order: LoopOrder, timed: TimedKernel) -> TraceRequest:
    """In tiles of which there are several; a timed kernel has its own."""
    asked = TraceRequest(problem=problem, backend=backend, order=order, kernel=timed)
    if timed:
        return asked
    keys = min(TILE, max(1, problem.seqlen_k // FEWEST_TILES))
    return with_fields(asked, block_q=min(keys, problem.seqlen_q), block_k=keys)


def shortened(problem: Problem, longest: int, why: str) -> tuple[Problem, list[str]]:
    """A forward pass with sequences of at most this length and alike, and what that changes.

    Query rows and window become as much less as N, where they are not few already.
    """
    changes = []
    if problem.passes != "forward":
        changes.append(FORWARD_ALONE)
    forward = with_fields(problem, passes="forward", deterministic=False)
    if not forward.even:
        changes.append("One sequence that fills its arrays, without lengths and pages.")
    untraced = forward.features & NOT_TRACED
    if untraced:
        changes.append(f"Without {listed(untraced)}, which only the timed kernels compute.")
    plain = with_fields(forward, softcap=None, sinks=False, alibi=False, head_dim_v=None)
    short = with_fields(plain, query_lengths=None, key_lengths=None, page_size=None)
    longer = max(short.seqlen_q, short.seqlen_k)
    if longer <= longest:
        return short, changes
    share = longest / longer
    rows, keys = (
        min(length, max(round(length * share), FEWEST_ROWS)) for length in (short.seqlen_q, short.seqlen_k)
    )
    words = f"N = {thousands(max(rows, keys))} in the place of {thousands(longer)}: {why}."
    changes.append(words)
    window = short.window
    if window is not None and short.window is not None and max(window) >= longest:
        left, right = (side if side == UNBOUNDED else round(side * share) for side in window)
        window = left, right
        changes.append(
            f"Window {left}, {right} in the place of {short.window[0]}, {short.window[1]}: as much less as N."
        )
    if short.block_mask is not None:
        changes.append("Without its block mask, which is one of the whole N.")
    return with_fields(short, seqlen_q=rows, seqlen_k=keys, window=window, block_mask=None), changes


def stand_in_for(kernel: str, problem: Problem, here: Backend) -> StandIn:
    """The kernel itself where it is traced, else the nearest before it on the ladder.

    What is on no ladder stands beside `standard` where it holds S in memory, else beside `flash2`.
    """
    steps = [*_ladder(kernel)]
    found = next(filter(None, (_itself(name, problem, here) for name in steps)), None)
    if found is None:
        spec = known_kernel(kernel)
        holds = spec is not None and any(one.name.startswith("S (") for one in spec.workspace(problem, here))
        found = StandIn(WHOLE if holds else "flash2")
    return replace(found, why=_why(kernel, found.kernel, here))


def _ladder(kernel: str) -> Iterator[str]:
    """The kernel and those before it, the nearest first."""
    step: str | None = kernel
    while step is not None:
        yield step
        spec = known_kernel(step)
        step = spec.predecessor if spec else None


def _itself(name: str, problem: Problem, here: Backend) -> StandIn | None:
    """A kernel that can be traced there, or is shown beside the traced ones; None: it cannot."""
    on_tensor_cores = here == "cuda" and problem.dtype != "float32"
    match name:
        case "flash1":
            return StandIn(name, order=name, timed=name if on_tensor_cores else "")
        case "flash2":
            return StandIn(name, timed=name if on_tensor_cores else "")
        case "flash3" | "flash3-fp8":
            return StandIn(name, timed=name) if on_tensor_cores and problem.block_mask is None else None
        case "standard":
            return StandIn(name)
    return None


def _why(kernel: str, shown: str, here: Backend) -> str:
    """Why another kernel is shown, or shown so."""
    if kernel == shown:
        return f"{WHOLE} has no tiles to step through: {BESIDE}." if shown == WHOLE else ""
    spec = known_kernel(kernel)
    if spec is None:
        reason = f"This version knows no {kernel}"
    elif spec.family == "library":
        reason = f"{kernel} lets nobody look inside"
    elif spec.family == "own":
        reason = f"{kernel} is a kernel of one's own, of whose steps nothing is recorded"
    else:
        where = " on a CPU" if here == "cpu" else " under a block mask"
        where *= kernel in get_args(TimedKernel)
        reason = f"{kernel} has no trace{where}"
    before = shown in [*_ladder(kernel)]
    nearest = f"{shown}{', which it goes on from,' * before} stands nearest"
    return f"{reason}; {nearest}{f': {BESIDE}' * (shown == WHOLE)}."


def _one_head(problem: Problem, stand_in: StandIn, here: Backend) -> tuple[Problem, list[str]]:
    """One head of it, in what is traced there."""
    changes: list[str] = []
    if stand_in.timed:
        return problem, changes  # launched with all its heads
    heads, sequences = counted_noun(problem.heads, "head"), counted_noun(problem.batch, "sequence")
    if problem.batch * problem.heads > 1:
        changes.append(f"One head of {heads.split()[0]}{f', of {sequences}' * (problem.batch > 1)}.")
    one = with_fields(problem, batch=1, heads=1, kv_heads=None)
    if here == "cpu" and one.dtype != "float32":
        changes.append(f"float32 in the place of {one.dtype}: a CPU traces in that alone.")
        one = with_fields(one, dtype="float32")
    missing = one.features - find_kernel(stand_in.order).features[here]
    if missing:
        changes.append(f"Without {listed(missing)}, which is not traced there.")
        one = with_fields(
            one,
            causal=one.causal and "causal" not in missing,
            window=None if "window" in missing else one.window,
            block_mask=None if "block_mask" in missing else one.block_mask,
        )
    return one, changes
