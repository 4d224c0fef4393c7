"""What a page of two sources shows: the texts, their tokens and their changes; made in the background."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.words.beside import Hunk, Line, Pair, beside
from app.words.tokens import Token, tokens_of
from kernels.cuda.reading.step import BEFORE, StepSource, read_problem, source_of
from kernels.errors import KernelError
from kernels.ladder import LADDER
from kernels.problem import Problem

MOST_KEPT = 16  # readings: a story that is walked again, or to and fro
KERNELS = tuple(spec.name for spec in LADDER)
PROBLEMS: dict[str, Problem] = {  # by the labels that curves of these have
    f"d {head_dim}, {'causal' if causal else 'no mask'}": read_problem(head_dim, causal=causal)
    for head_dim in (64, 128, 256)
    for causal in (False, True)
}


@dataclass(frozen=True)
class Reading:
    """A kernel's source, beside its predecessor's where it has one.

    Attributes:
        sources: Of the predecessor and of the kernel; the first is None where nothing goes before it.
        tokens: Of each line of both.
        hunks: What has changed; empty where nothing has.
        whole: All lines of both, with what has changed.
    """

    sources: tuple[StepSource | None, StepSource]
    tokens: tuple[Sequence[Sequence[Token]], Sequence[Sequence[Token]]]
    hunks: Sequence[Hunk]
    whole: Sequence[Hunk]

    @property
    def related(self) -> bool:
        """Whether both are made from one file, so that their lines belong together."""
        before, after = self.sources
        return before is not None and before.file == after.file


@lru_cache(maxsize=MOST_KEPT)
def read(kernel: str, label: str) -> Reading | str:
    """The source of a kernel for a problem; why there is none."""
    try:
        after = source_of(kernel, PROBLEMS[label])
        before = source_of(BEFORE[kernel], PROBLEMS[label]) if kernel in BEFORE else None
    except KernelError as error:
        return str(error)
    tokens = tokens_of(before.text if before else ""), tokens_of(after.text)
    if before is None:
        alone = [Pair(None, Line(*line), changed=False) for line in enumerate(after.text.splitlines())]
        return Reading((None, after), tokens, (), [alone])
    changes, whole = (beside(before.text, after.text, whole=all_of) for all_of in (False, True))
    return Reading((before, after), tokens, changes, whole or [_alike(after.text)])


def _alike(text: str) -> Hunk:
    lines = [Line(*line) for line in enumerate(text.splitlines())]
    return [Pair(line, line, changed=False) for line in lines]
