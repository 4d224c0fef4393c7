"""From a point of a sweep to a timeline of its kernel on this machine's CPU."""

from dataclasses import dataclass
from typing import get_args

from msgspec.structs import replace as with_fields

from flashscope.app.stepper.from_point import shortened
from flashscope.app.words.units import seqlen_full
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.timeline import ClockedKernel, TimelineRequest

ROUNDS = {512: 25, 1024: 15, 2048: 7, 4096: 5}
"""How often both builds run, by N: of short runs more, that one may be undisturbed."""
MOST_HEADS = 8
CLOCKED: tuple[ClockedKernel, ...] = get_args(ClockedKernel)


@dataclass(frozen=True)
class PointTimeline:
    """A point of a sweep as a timeline is recorded of it.

    Attributes:
        title: The point, short.
        request: What is recorded.
        changes: What it differs in from the point, each in a sentence.
    """

    title: str
    request: TimelineRequest
    changes: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is shown in its place, in sentences."""
        return " ".join((f"A timeline of {self.title}.", *self.changes))


def why_no_timeline(kernel: str) -> str:
    """Why there is no timeline of a kernel, in a sentence; empty: there is."""
    if kernel in CLOCKED:
        return ""
    return f"{kernel} has no build with clocks between its stages: {' and '.join(CLOCKED)} have, on a CPU."


def timeline_of_point(kernel: ClockedKernel, problem: Problem, backend: Backend) -> PointTimeline:
    """A point's problem as it is recorded in some seconds.

    Args:
        kernel: The point's.
        problem: The point's.
        backend: Where it was measured.
    """
    changes = ["On the CPU: CUDA kernels have no build with clocks."] if backend == "cuda" else []
    short, changed = shortened(problem, max(ROUNDS), "longer ones take minutes on a CPU")
    changes += changed
    if short.dtype != "float32":
        changes.append(f"float32 in the place of {short.dtype}: a CPU's kernels have that alone.")
    heads = short.batch * short.heads
    if heads > MOST_HEADS:
        changes.append(f"{MOST_HEADS} heads of {heads}.")
        short = with_fields(short, batch=1, heads=MOST_HEADS, kv_heads=None)
    short = with_fields(short, dtype="float32")
    rounds = next(ROUNDS[longest] for longest in ROUNDS if max(short.seqlen_q, short.seqlen_k) <= longest)
    request = TimelineRequest(problem=short, kernel=kernel, rounds=rounds)
    return PointTimeline(f"{kernel} at N = {seqlen_full(problem.seqlen)}", request, tuple(changes))
