"""Pairs of points tested by their rounds: how far apart they are, how sure that is, and what would count."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from flashscope.profiles.results.compare.evidence import TIMED, Couple, RoundFigures, Rounds
from flashscope.profiles.results.compare.noise import CLOCK_UNSEEN, least_change, luck
from flashscope.profiles.results.quantities.quantity import QuantityKind
from flashscope.profiles.results.statistics.bootstrap import Interval, intervals
from flashscope.profiles.results.statistics.ranks import holm, least_p, p_value

Both: TypeAlias = tuple[Rounds, Rounds]
LEVEL = 0.05  # of all tests together
FOUND_95, COVERED_95 = (
    1.645,
    1.960,
)  # standard errors: below 95% of a normal distribution, and around 95% of it


@dataclass(frozen=True, eq=False)
class PairTest:
    """A tested pair.

    Attributes:
        couple: The pair.
        base: Rounds of the baseline.
        other: Of the other session.
        interval: Of the ratio of the medians.
        p_figures: Of the rank test of the figures, corrected over all trials.
        p: The larger one of those of the figures and of the cycles, corrected over all trials; that of the
            figures where no clock is known.
        kind: What the figures are.
        among: How many trials there are.
    """

    couple: Couple
    base: Rounds
    other: Rounds
    interval: Interval
    p_figures: float
    p: float
    kind: QuantityKind
    among: int

    @property
    def ratio(self) -> float:
        """The ratio of the medians."""
        return self.other.figures.median / self.base.figures.median

    @property
    def cycles(self) -> float | None:
        """The same in clock cycles, None where a clock is not known."""
        if self.base.cycles is None or self.other.cycles is None:
            return None
        return self.other.cycles.median / self.base.cycles.median

    @property
    def noise(self) -> float:
        """The least change that the runs' own noise leaves, as a share."""
        return least_change(scatters=(self.base.scatter, self.other.scatter), wander=self.couple.wander)

    @property
    def threshold(self) -> float:
        """The least change that counts, as a share: more where a clock may have made it unseen."""
        noise = self.noise * luck(self.among)
        return max(noise, CLOCK_UNSEEN) if self.clock_unseen else noise

    @property
    def detectable(self) -> float | None:
        """The least change that would be found 95 times of 100, for all that one run a side tells of it.

        A change has to count and to keep 1 out of its interval, each of which its own error may undo. None:
        the rounds are too few to find any among so many pairs.
        """
        if least_p(len(self.base.figures.values), len(self.other.figures.values)) * self.among > LEVEL:
            return None
        half = math.log(self.interval.high / self.interval.low) / 2
        least = max(math.log1p(self.threshold), half) + half * FOUND_95 / COVERED_95
        return math.expm1(least)

    @property
    def clock_unseen(self) -> bool:
        """Whether the figures depend on a clock that a session did not read."""
        on_gpu = "cuda" in {row.backend for row in self.couple.rows}
        return self.kind in TIMED and self.cycles is None and (on_gpu or not self.couple.of_one_run)

    @property
    def differs(self) -> bool:
        """Whether the figures differ: by the interval, by the rank test, and by as much as counts."""
        holds_1 = self.interval.low <= 1 <= self.interval.high
        return not holds_1 and self.change >= math.log1p(self.threshold) and self.p_figures <= LEVEL

    @property
    def change(self) -> float:
        """How far the ratio is from 1, as a logarithm from 0."""
        return abs(math.log(self.ratio))

    @property
    def change_in_cycles(self) -> float:
        """The same in clock cycles, below 0 where it is the other way round; of the ratio without a clock."""
        cycles = self.ratio if self.cycles is None else self.cycles
        return math.log(cycles) * math.copysign(1, math.log(self.ratio))

    def within(self, share: float) -> bool:
        """Whether the ratio is no further than this from 1, for all that is known."""
        return self.interval.within(share)

    def within_in_cycles(self, share: float) -> bool:
        """The same of a pair whose time follows the clock: in cycles, which scatter less in both sessions."""
        ours, theirs = self.base.cycles, self.other.cycles
        if ours is None or theirs is None:
            return False
        steadier = ours.scatter < self.base.figures.scatter and theirs.scatter < self.other.figures.scatter
        return steadier and _intervals([(ours, theirs)])[0].within(share)

    @property
    def clocks(self) -> str:
        """Both clocks, in words."""
        return f"{(self.base.clock_mhz or 0) / 1e3:.2f} → {(self.other.clock_mhz or 0) / 1e3:.2f} GHz"


def pair_tests(couples: Sequence[Couple], rounds: Sequence[Both], kind: QuantityKind) -> list[PairTest]:
    """Test pairs, all as one family; their figures are of this kind."""
    figures = [(base.figures, other.figures) for base, other in rounds]
    of_figures = [_p_value(*both) for both in figures]
    of_both = [max(p, _p_in_cycles(*both)) for p, both in zip(of_figures, rounds, strict=True)]
    found = zip(couples, rounds, _intervals(figures), holm(of_figures), holm(of_both), strict=True)
    return [
        PairTest(couple, *both, interval, p, q, kind, len(rounds)) for couple, both, interval, p, q in found
    ]


def _p_value(base: RoundFigures, other: RoundFigures) -> float:
    return p_value(base.values, other.values)


def _p_in_cycles(base: Rounds, other: Rounds) -> float:
    return 0.0 if base.cycles is None or other.cycles is None else _p_value(base.cycles, other.cycles)


def _intervals(pairs: Sequence[tuple[RoundFigures, RoundFigures]]) -> list[Interval]:
    """The interval of each pair; pairs with as many rounds share their draws."""
    alike: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (base, other) in enumerate(pairs):
        alike[len(base.values), len(other.values)].append(index)
    found: dict[int, Interval] = {}
    for indices in alike.values():
        bases, others = (np.stack([pairs[index][side].values for index in indices]) for side in (0, 1))
        ends = zip(*intervals(bases, others), strict=True)
        found |= {i: Interval(float(low), float(high)) for i, (low, high) in zip(indices, ends, strict=True)}
    return [found[index] for index in range(len(pairs))]
