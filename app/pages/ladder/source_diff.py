"""What a page of two sources shows: the texts, their tokens and their changes; made in the background."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from flashscope.app.words.line_diff import Hunk, Line, LinePair, diff_hunks
from flashscope.app.words.tokens import Token, tokens_of
from flashscope.kernels.cuda.reading.step import StepSource, read_problem, source_of, step_before
from flashscope.kernels.workload.errors import KernelError
from flashscope.kernels.workload.problem import ONE_PASS, Problem
from flashscope.profiles.plan.problem_words import pass_words

MOST_KEPT = 16  # readings: a story that is walked again, or to and fro


def _label(problem: Problem) -> str:
    """As the curve of such problems is called."""
    mask = "causal" if problem.causal else "no mask"
    return ", ".join(filter(None, (f"d {problem.head_dim}", pass_words(problem), mask)))


PROBLEMS: dict[str, Problem] = {
    _label(problem): problem
    for passes in ONE_PASS
    for head_dim in (64, 128, 256)
    for causal in (False, True)
    for problem in [read_problem(head_dim, causal=causal, passes=passes)]
}


@dataclass(frozen=True)
class SourceDiff:
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
    def alike(self) -> bool:
        """Whether there is a predecessor, and nothing has changed from it."""
        return self.sources[0] is not None and not self.hunks

    @property
    def related(self) -> bool:
        """Whether both are made from one file, so that their lines belong together."""
        before, after = self.sources
        return before is not None and before.file == after.file


@lru_cache(maxsize=MOST_KEPT)
def read(kernel: str, label: str) -> SourceDiff | str:
    """The source of a kernel for a problem; why there is none."""
    problem = PROBLEMS[label]
    gone_before = step_before(kernel, problem.passes)
    try:
        after = source_of(kernel, problem)
        before = source_of(gone_before, problem) if gone_before else None
    except KernelError as error:
        return str(error)
    tokens = tokens_of(before.text if before else ""), tokens_of(after.text)
    if before is None:
        alone = [LinePair(None, Line(*line), changed=False) for line in enumerate(after.text.splitlines())]
        return SourceDiff((None, after), tokens, (), [alone])
    changes, whole = (diff_hunks(before.text, after.text, whole=all_of) for all_of in (False, True))
    return SourceDiff((before, after), tokens, changes, whole or [_alike(after.text)])


def _alike(text: str) -> Hunk:
    lines = [Line(*line) for line in enumerate(text.splitlines())]
    return [LinePair(line, line, changed=False) for line in lines]
