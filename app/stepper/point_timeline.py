"""From a point of a sweep to a timeline of its kernel on this machine."""

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace as with_fields

from flashscope.app.stepper.from_point import shortened
from flashscope.app.words.units import thousands
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import SIXTEEN_BIT
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.timeline import ClockedKernel, TimelineRequest
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.wire.text import listed

ROUNDS = {512: 25, 1024: 15, 2048: 7, 4096: 5}
"""How often both builds run, by N: of short runs more, that one may be undisturbed."""
MOST_HEADS = {"cpu": 8, "cuda": 16}
PLAIN = {"page_size": None, "passes": "forward", "deterministic": False}
MOST_BACKWARD_HEADS = 8  # whose tiles have twice as many bars
BACKWARD: dict[ClockedKernel, int] = {"flash2": 256, "flash3": 128}
"""Those whose backward pass has a build with clocks, on a GPU, and up to which head dim."""
CLOCKED: dict[Backend, tuple[ClockedKernel, ...]] = {
    "cpu": ("flash1", "flash2"),
    "cuda": ("flash1", "flash2", "flash3-a", "flash3-b", "flash3-c", "flash3", "flash3-fp8"),
}


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


def why_no_timeline(kernel: str, machine: Machine | None) -> str:
    """Why there is no timeline of a kernel here, in a sentence; empty: there is."""
    if kernel in CLOCKED["cpu"] or _runs_on_gpu(kernel, machine):
        return ""
    cpu, gpu = (listed(CLOCKED[backend]) for backend in ("cpu", "cuda"))
    return f"{kernel} has no build with clocks here: {cpu} have one on a CPU, {gpu} on a GPU."


def timeline_of_point(
    kernel: ClockedKernel, problem: Problem, backend: Backend, machine: Machine | None
) -> PointTimeline:
    """A point's problem as it is recorded in some seconds: on the GPU if it was measured on one.

    Args:
        kernel: The point's.
        problem: The point's.
        backend: Where it was measured.
        machine: What there is here.
    """
    on_gpu = kernel not in CLOCKED["cpu"] or (backend == "cuda" and _runs_on_gpu(kernel, machine))
    where: Backend = "cuda" if on_gpu else "cpu"
    changes = [] if where == backend else [_elsewhere(kernel, where, machine)]
    why = "longer ones take minutes on a CPU" if where == "cpu" else "longer ones have too many bars"
    short, changed = _shortened(kernel, problem, where, why)
    changes += changed
    dtype = "float32" if where == "cpu" else short.dtype if short.dtype in SIXTEEN_BIT else "float16"
    if short.dtype != dtype:
        told = "a CPU's kernels have that alone" if where == "cpu" else "clocks are in kernels of 16 bits"
        changes.append(f"{dtype} in the place of {short.dtype}: {told}.")
    if where == "cuda" and short.block_mask is not None:
        changes.append("Without its block mask, which no build with clocks takes.")
        short = with_fields(short, block_mask=None)
    heads = short.batch * short.heads
    most = MOST_HEADS[where] if short.passes == "forward" else MOST_BACKWARD_HEADS
    if heads > most:
        short = _fewer(short, most)
        changes.append(f"{short.heads} heads of {heads}.")
    short = with_fields(short, dtype=dtype)
    rounds = next(ROUNDS[longest] for longest in ROUNDS if max(short.seqlen_q, short.seqlen_k) <= longest)
    request = TimelineRequest(problem=short, backend=where, kernel=kernel, rounds=rounds)
    return PointTimeline(f"{kernel} at N = {thousands(problem.seqlen)}", request, tuple(changes))


def _shortened(
    kernel: ClockedKernel, problem: Problem, where: Backend, why: str
) -> tuple[Problem, list[str]]:
    """The problem at a length that is recorded, with pages and pass that have clocks; and what changes."""
    kept: dict[str, Any] = {}
    ragged = problem.query_lengths is not None or problem.key_lengths is not None
    if where == "cuda" and problem.page_size is not None and not ragged:
        kept["page_size"] = problem.page_size
    if where == "cuda" and problem.passes == "backward" and problem.head_dim <= BACKWARD.get(kernel, 0):
        kept |= {"passes": "backward", "deterministic": problem.deterministic}
    plain = with_fields(problem, **{name: PLAIN[name] for name in kept})
    short, changes = shortened(plain, max(ROUNDS), why)
    if short.seqlen_k % kept.get("page_size", 1):
        del kept["page_size"]
        changes.append("Without pages, which its keys no longer fill.")
    return with_fields(short, **kept), changes


def _fewer(problem: Problem, most: int) -> Problem:
    """The problem with so many heads at most, and K and V shared by as many of them as before."""
    group = min(problem.heads // problem.key_heads, most)
    kv_heads = most // group
    return with_fields(problem, batch=1, heads=kv_heads * group, kv_heads=None if group == 1 else kv_heads)


def _runs_on_gpu(kernel: str, machine: Machine | None) -> bool:
    """Whether this machine's GPU takes the kernel's build with clocks."""
    device = None if machine is None else machine.device("cuda")
    if device is None or kernel not in CLOCKED["cuda"]:
        return False
    return find_kernel(kernel).unsupported(Problem(seqlen_q=16, seqlen_k=16, dtype="float16"), device) is None


def _elsewhere(kernel: str, where: Backend, machine: Machine | None) -> str:
    """Why it is recorded where it was not measured."""
    if where == "cuda":
        return f"On the GPU: {kernel} runs on no CPU."
    if machine is None or machine.device("cuda") is None:
        return "On the CPU: no GPU is usable here."
    return f"On the CPU: on a GPU {kernel} has no build with clocks here."
