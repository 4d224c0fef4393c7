"""What a page of two sources shows: the texts, their tokens and their changes; made in the background."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from flashscope.app.pages.ladder.numpy_source import NUMPY_STEPS, numpy_source
from flashscope.app.words.inside.timelines import NUMPY
from flashscope.app.words.own.line_diff import Hunk, Line, LinePair, diff_hunks
from flashscope.app.words.own.tokens import Token, tokens_of
from flashscope.kernels.cuda.reading.step import (
    READ_HEAD_DIMS,
    StepSource,
    read_problem,
    source_of,
    step_before,
    steps_of,
)
from flashscope.kernels.workload.errors import KernelError
from flashscope.kernels.workload.problem import ONE_PASS, Passes, Problem
from flashscope.profiles.plan.problem_words import pass_words

MOST_KEPT = 16  # readings: a story that is walked again, or to and fro


def label_of(problem: Problem) -> str:
    """As the curve of such problems is called."""
    mask = "causal" if problem.causal else "no mask"
    return ", ".join(filter(None, (f"d {problem.head_dim}", pass_words(problem), mask)))


PROBLEMS: dict[str, Problem] = {
    label_of(problem): problem
    for passes in ONE_PASS
    for head_dim in READ_HEAD_DIMS
    for causal in (False, True)
    for problem in [read_problem(head_dim, causal=causal, passes=passes)]
}


LABELS = (*PROBLEMS, NUMPY)
"""What a source is of: a problem in CUDA, or all problems in NumPy."""
FIRST_PROBLEM = "d 128, no mask"


def known_label(wanted: str) -> str:
    """What a source is of that a stop of a story names; where it names nothing that is known, the first."""
    return wanted if wanted in LABELS else FIRST_PROBLEM


def passes_of(label: str) -> Passes:
    """The pass whose source it is."""
    return "forward" if label == NUMPY else PROBLEMS[label].passes


def steps_for(label: str) -> Sequence[str]:
    """The kernels that there are."""
    return NUMPY_STEPS if label == NUMPY else steps_of(passes_of(label))


def before_of(kernel: str, label: str) -> str:
    """The kernel that one goes on from; empty: none."""
    before = step_before(kernel, passes_of(label))
    return before if before in steps_for(label) else ""


@dataclass(frozen=True)
class SourceDiff:
    """A kernel's source, beside its predecessor's where it has one.

    Attributes:
        sources: Of the predecessor and of the kernel; the first is None where nothing goes before it.
        tokens: Of each line of both.
        hunks: What has changed; empty where nothing has.
        whole: All lines of both, with what has changed.
        alike_words: What is said where nothing has.
    """

    sources: tuple[StepSource | None, StepSource]
    tokens: tuple[Sequence[Sequence[Token]], Sequence[Sequence[Token]]]
    hunks: Sequence[Hunk]
    whole: Sequence[Hunk]
    alike_words: str

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
    python, gone_before = label == NUMPY, before_of(kernel, label)
    source = numpy_source if python else partial(source_of, problem=PROBLEMS[label])
    try:
        after = source(kernel)
        before = source(gone_before) if gone_before else None
    except KernelError as error:
        return str(error)
    return diff_of(before, after, python=python)


def diff_of(
    before: StepSource | None,
    after: StepSource,
    *,
    python: bool,
    alike_words: str = "the same for this problem",
) -> SourceDiff:
    """A source beside another one, or alone; it takes as long as a background should have it."""
    tokens = tokens_of(before.text if before else "", python=python), tokens_of(after.text, python=python)
    if before is None:
        alone = [LinePair(None, Line(*line), changed=False) for line in enumerate(after.text.splitlines())]
        return SourceDiff((None, after), tokens, (), [alone], alike_words)
    changes, whole = (diff_hunks(before.text, after.text, whole=all_of) for all_of in (False, True))
    return SourceDiff((before, after), tokens, changes, whole or [_alike(after.text)], alike_words)


def _alike(text: str) -> Hunk:
    lines = [Line(*line) for line in enumerate(text.splitlines())]
    return [LinePair(line, line, changed=False) for line in lines]
