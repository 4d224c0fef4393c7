"""Sweeps that wait for their turn, in words."""

from collections.abc import Iterable

from flashscope.app.words.results.progress import left_text
from flashscope.app.words.units import thousands
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.problem_words import unusual_words
from flashscope.profiles.results.model.curves import mask_words
from flashscope.profiles.wire.text import listed

DEVICES: dict[Backend, str] = {"cuda": "GPU", "cpu": "CPU"}
MOST_NAMED = 4  # kernels
UNKNOWN = "time not known yet"


def sweep_words(plan: Plan) -> str:
    """Kernels, problem, span of N, device and points: `flash2 · 2 heads, d 64, float32 · N = 256 · CPU …`."""
    points = f"{plan.cells} point{'s' * (plan.cells > 1)}"
    return " · ".join((_kernels(plan.kernels), problems_words(plan), points))


def problems_words(plan: Plan) -> str:
    """The same without kernels and points: `2 heads, d 64, float32 · N = 256 · CPU`."""
    shapes = dict.fromkeys(map(_shape, plan.problems))
    problem = next(iter(shapes)) if len(shapes) == 1 else f"{len(shapes)} kinds of problems"
    return " · ".join((problem, _span(plan), DEVICES[plan.backend]))


def run_words(first: int, last: int, runs: int) -> str:
    """Which of several runs are meant: `run 2 of 5`, `runs 3 to 5 of 5`; empty where there is one."""
    if runs == 1:
        return ""
    return f"run {first} of {runs}" if first == last else f"runs {first} to {last} of {runs}"


def waiting_words(count: int) -> str:
    """How many sweeps wait, of several runs each: `1 waits`, `3 wait`."""
    return f"{count} wait{'s' * (count == 1)}"


def estimate_words(seconds: float | None) -> str:
    """How long something is to take."""
    return UNKNOWN if seconds is None else left_text(seconds)


def total_words(estimates: Iterable[float | None]) -> str:
    """How long all of this is to take; what is not known makes it a least."""
    every = list(estimates)
    known = [one for one in every if one is not None]
    if not known:
        return UNKNOWN if every else ""
    told = left_text(sum(known))
    return told if len(known) == len(every) else f"at least {told.removeprefix('about ')}"


def in_all(total: str) -> str:
    """A total behind what waits; of what is not known there is none."""
    return total if total in {"", UNKNOWN} else f"{total} in all"


def _kernels(kernels: tuple[str, ...]) -> str:
    if len(kernels) > MOST_NAMED:
        return f"{len(kernels)} kernels"
    return listed(kernels)


def _span(plan: Plan) -> str:
    lengths = sorted({problem.seqlen for problem in plan.problems})
    first, last = (thousands(lengths[place]) for place in (0, -1))
    return f"N = {first}" if first == last else f"N = {first} to {last}"


def _shape(problem: Problem) -> str:
    """All of a problem but its lengths and its batch."""
    blocks = problem.block_mask
    masks = mask_words(
        causal=problem.causal,
        window=problem.window,
        blocks="" if blocks is None else blocks.pattern or "blocks",
    )
    heads = f"{problem.heads} head{'s' * (problem.heads > 1)}"
    shared = f"{problem.key_heads} kv" if problem.key_heads != problem.heads else ""
    words = heads, shared, f"d {problem.head_dim}", problem.dtype, unusual_words(problem), masks
    return ", ".join(filter(None, words))
