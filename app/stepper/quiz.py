"""Questions about the next value of a trace: asked at the step before, answered by a choice, then shown.

Every choice is computed from the trace. The wrong ones are what common mistakes give: alpha inverted, the
rescale forgotten, the new tile rescaled too, S and P not counted. None reads like the right one.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from random import Random
from typing import Literal

import numpy as np

from flashscope.app.stepper.numbers import difference, number
from flashscope.app.stepper.row_history import RowHistory
from flashscope.app.stepper.snapshots import Snapshot, StepPhase
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.app.stepper.traffic import standard_bytes
from flashscope.app.words.inside.tracing import MEMORIES
from flashscope.app.words.units import share_text, traffic_text
from flashscope.profiles.results.model.curves import counted_noun

QuestionKind = Literal["rise", "alpha", "sum", "share", "bytes"]
MOST_CHOICES = 3
MOST_SCORES = 12  # of a tile that are written out
FEWEST_WRONG = 2


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        kind: What is asked for.
        row: The query row that it is about.
        tile: The place of the tile that it is about among those of the row, counted from 0.
        at: The step that is on show while it is asked, counted from 0: its answer is not known there.
        shown_at: The step that shows the answer.
        known: What one has to go by, as HTML.
        asks: The question, as HTML.
        choices: Two or three answers, as HTML; all read differently.
        right: Which of them is right, counted from 0.
        shows: The answer with its numbers, as HTML.
    """

    kind: QuestionKind
    row: int
    tile: int
    at: int
    shown_at: int
    known: str
    asks: str
    choices: tuple[str, ...]
    right: int
    shows: str


@dataclass(frozen=True)
class Score:
    """How many were answered, and how many rightly."""

    right: int = 0
    asked: int = 0

    @property
    def text(self) -> str:
        """As `3 of 4 right`."""
        return f"{self.right} of {self.asked} right" if self.asked else "nothing answered yet"


@dataclass(frozen=True)
class Quiz:
    """The questions on one row, and what was answered so far.

    Attributes:
        questions: All of them, in the order of their steps.
        at: The one on show.
        answers: The choice taken by the question's place.
    """

    questions: tuple[Question, ...]
    at: int = 0
    answers: dict[int, int] = field(default_factory=dict)

    @property
    def question(self) -> Question | None:
        """The one on show; None where a row has none."""
        return self.questions[self.at] if self.questions else None

    @property
    def answered(self) -> int | None:
        """The choice taken of the one on show; None: it is still hidden."""
        return self.answers.get(self.at)

    @property
    def ended(self) -> bool:
        """Whether the last one is answered and on show."""
        return self.answered is not None and self.at == len(self.questions) - 1

    def answer(self, choice: int) -> "Quiz":
        """Take a choice; the first one counts, and one that there is not is none."""
        asked = self.question
        if asked is None or self.answered is not None or not 0 <= choice < len(asked.choices):
            return self
        return replace(self, answers={**self.answers, self.at: choice})

    def moved(self, by: int) -> "Quiz":
        """The question some places on, or back; onward only from one that is answered."""
        if by > 0 and self.answered is None:
            return self
        return replace(self, at=max(0, min(self.at + by, len(self.questions) - 1)))


@np.errstate(all="ignore")  # a file may hold any numbers
def questions(story: SteppedTrace, row: int, seed: int = 0) -> tuple[Question, ...]:
    """The questions on one row of a trace: the same for the same trace, row and seed."""
    return tuple(_Asking(story, row, seed).all())


class _Asking:
    """Makes the questions on one row."""

    def __init__(self, story: SteppedTrace, row: int, seed: int) -> None:
        self.story, self.row, self.random = story, row, Random(f"{seed} {row}")  # noqa: S311 - the same questions each time
        self.history: RowHistory = story.history(row)

    def all(self) -> Iterator[Question]:
        met = 0  # tiles so far in which the row keeps a key
        calm = True  # no alpha of 1 has been asked for yet
        for k, t in enumerate(self.history.tiles.tolist()):
            top = self._top(t)
            if not np.isfinite(top) or not np.isfinite(self.history.l[k]):
                continue
            met += 1
            if met == 1:
                continue
            rises = bool(self.history.rises[k])
            if number(top) != number(self._before(k)[0]):  # else it cannot be told from what is shown
                yield self._rise(k, t, top, rises=rises)
            if rises or calm:
                calm = calm and rises
                yield from self._alpha(k, top)
                yield from self._sum(k, t)
            if met in {3, 6}:
                yield from self._share(k)
        if len(self.history.tiles):
            yield from self._bytes()

    def _top(self, t: int) -> float:
        recording = self.story.recording
        return float(recording.scores(t)[self.row % recording.block_q].max())

    def _before(self, k: int) -> tuple[float, float]:
        """The m and l that tile k meets."""
        return float(self.history.m[k - 1]), float(self.history.l[k - 1])

    def _rise(self, k: int, t: int, top: float, *, rises: bool) -> Question:
        recording, (m, _) = self.story.recording, self._before(k)
        scores = recording.scores(t)[self.row % recording.block_q]
        listed = ", ".join(number(float(score)) for score in scores[:MOST_SCORES])
        more = f", … ({len(scores)} in all)" if len(scores) > MOST_SCORES else ""
        names = self._tile(k)
        return self._made(
            "rise",
            (k, "scores", "maximum"),
            f"So far m = {number(m)}. The scores of the row in {names}: {listed}{more}",
            f"Does {names} raise the maximum m of row {self.row}?",
            ("Yes", "No"),
            0 if rises else 1,
            f"The largest score of {names} is {number(top)}: m {'rises' if rises else 'stays'}, "
            f"<m>m′</m> = {number(float(self.history.m[k]))}.",
        )

    def _alpha(self, k: int, top: float) -> Iterator[Question]:
        m, new, alpha = self._before(k)[0], float(self.history.m[k]), float(self.history.alpha[k])
        wrong = (
            float(np.exp(new - m)),  # inverted
            1.0,  # the rescale forgotten
            float(np.exp(top - m)),  # the tile's own maximum in place of the new one
            float(np.exp(m - top)),
            new - m,  # the exponential forgotten
            float(np.exp(-new)),
            0.0,  # what was there is thrown away
        )
        drawn = self._drawn(alpha, wrong)
        if drawn is not None:
            yield self._made(
                "alpha",
                (k, "maximum", "maximum"),
                f"m was {number(m)} and is {number(new)} after {self._tile(k)}.",
                "What are the old ℓ and O multiplied by: what is α?",
                *drawn,
                f"<a>α</a> = exp({difference(m, new)}) = {number(alpha)}.",
                hidden=True,
            )

    def _sum(self, k: int, t: int) -> Iterator[Question]:
        (_, l), new, alpha = self._before(k), float(self.history.l[k]), float(self.history.alpha[k])
        own = float(self.story.recording.weights(t)[self.row % self.story.recording.block_q].sum())
        wrong = (
            l + own,  # the rescale forgotten
            own,  # what was there is thrown away
            alpha * (l + own),  # the new tile rescaled too
            l / alpha + own if alpha else np.inf,  # inverted
            l,
        )
        drawn = self._drawn(new, wrong)
        if drawn is not None:
            yield self._made(
                "sum",
                (k, "maximum", "weights"),
                f"ℓ was {number(l)}, α = {number(alpha)}, and {self._tile(k)} adds Σ P = {number(own)}.",
                "What is the sum ℓ′ after this tile?",
                *drawn,
                f"<l>ℓ′</l> = αℓ + Σ P = {number(alpha)} · {number(l)} + {number(own)} = {number(new)}.",
            )

    def _share(self, k: int) -> Iterator[Question]:
        shares = self.history.shares[k, : k + 1]
        places = [place for place in range(k + 1) if shares[place] > 0]
        first, second = sorted(self.random.sample(places, 2)) if len(places) > 1 else (0, 0)
        one, other = (float(shares[place]) for place in (first, second))
        if first == second or share_text(one) == share_text(other):
            return
        tops = [number(self._top(int(self.history.tiles[place]))) for place in (first, second)]
        names = self._tile(first), self._tile(second)
        yield self._made(
            "share",
            (k, "output", "output"),
            f"Largest score of {names[0]}: {tops[0]}. Of {names[1]}: {tops[1]}.",
            f"Which of the two holds the larger share of row {self.row}’s weights so far?",
            (names[0].capitalize(), names[1].capitalize()),
            0 if one > other else 1,
            f"Of all weights so far {names[0]} holds {share_text(one)}, {names[1]} {share_text(other)}.",
        )

    def _bytes(self) -> Iterator[Question]:
        recording = self.story.recording
        problem = recording.trace.request.shown
        standard, tiled = standard_bytes(recording), self.story.traffic[-1].total
        rows, keys, d, dv = recording.seqlen_q, recording.seqlen_k, problem.head_dim, recording.value_dim
        least = problem.itemsize * (rows * (d + dv) + keys * (d + dv))  # each array once
        drawn = self._drawn_texts(
            _against(standard, tiled),
            (
                _against(tiled, standard),  # the wrong way round
                _against(least, tiled),  # S and P are not counted
                _against(standard, least),  # K and V are read once
                _against(standard, standard),
            ),
        )
        memory, _ = MEMORIES[recording.request.backend]
        if drawn is not None:
            last = len(self.story.timeline.steps) - 1
            yield Question(
                "bytes",
                self.row,
                len(self.history.tiles) - 1,
                max(0, last - 1),
                last,
                f"{counted_noun(rows, 'row')}, {counted_noun(keys, 'key')}, d = {d}, {problem.dtype}, "
                f"tiles of {recording.block_q} × {recording.block_k}; caches are left out (a model).",
                f"How many bytes have gone into and out of {memory} at the end: standard against tiled?",
                *drawn,
                f"Standard moves {traffic_text(standard)}, tiled {traffic_text(tiled)}: S and P, {rows:,} × "
                f"{keys:,} each, stay on the chip, K and V are read for every query block that needs them.",
            )

    def _made(  # noqa: PLR0917 - in the order of a question's own parts
        self,
        kind: QuestionKind,
        where: tuple[int, StepPhase, StepPhase],
        known: str,
        asks: str,
        choices: tuple[str, ...],
        right: int,
        shows: str,
        *,
        hidden: bool = False,
    ) -> Question:
        k, before, after = where
        t = int(self.history.tiles[k])
        at = self._step(t, before) - hidden  # the step that shows m shows alpha, too
        return Question(kind, self.row, k, at, self._step(t, after), known, asks, choices, right, shows)

    def _step(self, t: int, phase: StepPhase) -> int:
        """The step at which a phase of tile t has been executed."""
        return bisect_left(self.story.timeline.steps, Snapshot(t, 0, 0, phase).place, key=attrgetter("place"))

    def _tile(self, k: int) -> str:
        return f"tile j = {int(self.history.blocks[k])}"

    def _drawn(self, right: float, wrong: Sequence[float]) -> tuple[tuple[str, ...], int] | None:
        return self._drawn_texts(number(right), [number(one) for one in wrong if np.isfinite(one)])

    def _drawn_texts(self, right: str, wrong: Sequence[str]) -> tuple[tuple[str, ...], int] | None:
        """Choices in an order that is drawn, and the place of the right one; None: too few differ."""
        others = [text for text in dict.fromkeys(wrong) if text != right]
        if len(others) < FEWEST_WRONG:
            return None
        likely, *rest = others  # the likeliest mistake always stands among them
        choices = [right, likely, self.random.choice(rest)]
        self.random.shuffle(choices)
        return tuple(choices), choices.index(right)


def _against(standard: int, tiled: int) -> str:
    return f"{traffic_text(standard)} against {traffic_text(tiled)}"
