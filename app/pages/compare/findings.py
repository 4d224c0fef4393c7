"""All that the Compare page shows of a comparison, worked out before any of it is drawn."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from flashscope.app.figures.grid import PairGrid, grid_of
from flashscope.app.figures.strands import CHANGES, NO_PLACE, Sheet, comparison_curves, flattened, sheets
from flashscope.app.words.results.sessions import side_called
from flashscope.app.words.results.verdicts import spoken
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare import Comparison, Lone, Pair, compare
from flashscope.profiles.results.compare.audited import AuditContrast, audit_contrast
from flashscope.profiles.results.model.curves import Curve
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity

MANY = 60  # points from which a heat map tells more than curves
ORDER = (
    "slower",
    "faster",
    "more",
    "less",
    "no longer done",
    "done now",
    "inconclusive",
    "same",
    "equal",
    "not compared",
)
"""Of verdicts, in words: the changes first."""


@dataclass(frozen=True, eq=False)
class ComparedSession:
    """One side of the comparison: a session, or several runs of one plan.

    Attributes:
        files: Of its runs, in their order.
        runs: What is in them.
    """

    files: tuple[Path, ...]
    runs: tuple[Session, ...]

    @property
    def path(self) -> Path:
        """The file of the first run, which tells the side from others."""
        return self.files[0]

    @property
    def session(self) -> Session:
        """The first run."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """What it is called."""
        return side_called(self.runs, self.files)

    def points(self, row: PointRow) -> list[PointRow]:
        """A point of the first run in every run."""
        return [row, *(run[row.point.index] for run in self._others)]

    @cached_property
    def _others(self) -> list[dict[int, PointRow]]:
        return [{row.point.index: row for row in rows(run)} for run in self.runs[1:]]


@dataclass(frozen=True, eq=False)
class Alone:
    """A point without a partner.

    Attributes:
        session: The session that has it, 0 for the baseline.
        beside: The session that lacks it.
        lone: The point, and what is nearest to it there.
    """

    session: int
    beside: int
    lone: Lone


@dataclass(frozen=True, eq=False)
class Findings:
    """A comparison, and what to draw of it.

    Attributes:
        members: The sessions, the baseline first.
        comparison: The baseline beside the others.
        pairs: Every pair with the number of its other session, from 1; its place is where it stands here.
        verdicts: How many pairs have each verdict, in words, the changes first.
        alone: Every point without a partner.
        curves: The curve of each problem.
        sheets: What to draw over N, by curve.
        grids: The heat map of each other session.
        audits: The audits of each other session beside the baseline's; None: neither has any.
    """

    members: tuple[ComparedSession, ...]
    comparison: Comparison
    pairs: tuple[tuple[int, Pair], ...]
    verdicts: dict[str, int]
    alone: tuple[Alone, ...]
    curves: dict[Problem, Curve]
    sheets: dict[Curve, Sheet]
    grids: tuple[PairGrid, ...]
    audits: tuple[AuditContrast | None, ...]

    @property
    def many(self) -> bool:
        """Whether a heat map tells more than curves over N."""
        paired = {self.curve_at(place) for place in range(len(self.pairs))}
        return len(paired) > 1 or max((len(one.pairs) for one in self.comparison.contrasts), default=0) > MANY

    @property
    def telling(self) -> int:
        """The place of the largest change that counts, else of the largest at all; -1 without a ratio."""

        def weight(place: int) -> tuple[bool, float]:
            pair = self.pairs[place][1]
            return pair.verdict in CHANGES, pair.change or 0.0

        return max((k for k, (_, pair) in enumerate(self.pairs) if pair.ratio), key=weight, default=NO_PLACE)

    def curve_at(self, place: int) -> Curve:
        """The curve of a pair."""
        return self.curves[self.pairs[place][1].base.problem]

    def alike(self, pair: Pair) -> list[int]:
        """Where the pairs of the same kernel and problem stand, of any session."""
        meant = pair.kernel, pair.base.problem
        return [place for place, (_, one) in enumerate(self.pairs) if (one.kernel, one.base.problem) == meant]

    def twin(self, place: int, number: int) -> int:
        """Where the same point's pair of another session stands; -1: it has none."""
        if place == NO_PLACE or self.pairs[place][0] == number:
            return place
        index = self.pairs[place][1].base.point.index
        places = (
            k for k, (one, pair) in enumerate(self.pairs) if one == number and pair.base.point.index == index
        )
        return next(places, NO_PLACE)

    def points(self, place: int) -> tuple[list[PointRow], list[PointRow]]:
        """The points of a pair in every run of the baseline and of the other side."""
        number, pair = self.pairs[place]
        return self.members[0].points(pair.base), self.members[number].points(pair.other)

    def names(self) -> tuple[str, ...]:
        """What the sessions are called, the baseline first."""
        return tuple(member.name for member in self.members)


def find(members: Sequence[ComparedSession], quantity: Quantity) -> Findings:
    """Compare the first of these with the others; takes seconds for ten thousand points."""
    comparison = compare(members[0].runs, [one.runs for one in members[1:]], quantity)
    curves = comparison_curves(comparison)
    firsts = accumulate((len(one.pairs) for one in comparison.contrasts), initial=0)
    return Findings(
        members=tuple(members),
        comparison=comparison,
        pairs=flattened(comparison),
        verdicts=_verdicts(comparison),
        alone=tuple(_alone(comparison)),
        curves=curves,
        sheets=sheets(comparison, curves),
        grids=tuple(
            grid_of(one, first, curves) for one, first in zip(comparison.contrasts, firsts, strict=False)
        ),
        audits=tuple(audit_contrast(one.base, one.other) for one in comparison.contrasts),
    )


def _verdicts(comparison: Comparison) -> dict[str, int]:
    counts = Counter(spoken(pair).word for one in comparison.contrasts for pair in one.pairs)
    return {word: counts[word] for word in sorted(counts, key=ORDER.index)}


def _alone(comparison: Comparison) -> list[Alone]:
    found: list[Alone] = []
    for number, contrast in enumerate(comparison.contrasts, 1):
        found += [Alone(0, number, lone) for lone in contrast.base_only]
        found += [Alone(number, 0, lone) for lone in contrast.other_only]
    return found
