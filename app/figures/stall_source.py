"""The source that the lines of a stall profile are of, if this Flashscope still has it."""

from functools import lru_cache

from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.cuda.reading.step import StepSource, source_of
from flashscope.kernels.workload.errors import KernelError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.stalls import text_digest

MOST_KEPT = 16


@lru_cache(maxsize=MOST_KEPT)
def source_like(kernel: str, problem: Problem, digest: str) -> StepSource | None:
    """The source of a kernel for a problem on the card where it has this digest; None: there is none."""
    for card in CARDS:
        try:
            found = source_of(kernel, problem, card)
        except (KernelError, OverflowError):  # a file may name more heads than any launch takes
            continue
        if text_digest(found.text) == digest:
            return found
    return None
