"""Verdicts on points that were measured in several runs a side, each by processes of its own.

Rounds within a run do not see what differs between runs: where memory came to lie, what else the machine did,
the clock. So every run counts once, with its median, and what is tested is the logarithms of these medians.

**Faster or slower** takes all of these:

1. A t-test with the variance of both sides pooled says so at 0.5%, corrected by Holm over all pairs. A rank
   test would assume no shape of the spread, but of five runs beside five it goes down to 0.008 at best, which
   decides nothing among more than a handful of points; logarithms of medians come close to normal, and a run
   that is far off widens the spread, which takes verdicts away and makes none.
2. The change is at least 1%.
3. Where the clock of every run is known, the test is of whatever differs less between runs: the time, or the
   same in clock cycles. A change in cycles may not be contradicted by the time, and one of the time that is
   none in cycles was made by the clock alone.

**Same**: the 95% interval lies within the least change that would have been found, and within 5%.
Everything else is **inconclusive**, with that least change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flashscope.profiles.results.compare.evidence import Couple, Rounds, rounds_of
from flashscope.profiles.results.compare.figures import improved
from flashscope.profiles.results.compare.model import Pair, PairVerdict
from flashscope.profiles.results.compare.noise import LARGEST_SAME
from flashscope.profiles.results.compare.runs import (
    LEAST_FREEDOM,
    Spread,
    spread_of_cycles,
    spread_of_figures,
)
from flashscope.profiles.results.compare.wording import change_text, change_word, percent
from flashscope.profiles.results.model.drift import LEAST_CHANGE
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.statistics.bootstrap import Doubles
from flashscope.profiles.results.statistics.ranks import holm
from flashscope.profiles.wire.measurement import Figure

LEVEL = 0.005  # of all tests together
INTERVAL = 0.05
MISSED = 0.01  # of changes as large as the least that is told to be found, were the spread quite normal


@dataclass(frozen=True)
class RunRounds:
    """The rounds of one point in every run of both sides."""

    couple: Couple
    base: tuple[Rounds, ...]
    other: tuple[Rounds, ...]


@dataclass(frozen=True)
class RunTest:
    """A point tested by its runs.

    Attributes:
        rounds: What was tested.
        figures: How the figures' medians differ between runs.
        cycles: The same in clock cycles, None where no clock is known or plays a part.
        p: Of `deciding`, corrected over all pairs.
        among: How many pairs there are.
    """

    rounds: RunRounds
    figures: Spread
    cycles: Spread | None
    p: float
    among: int

    @property
    def deciding(self) -> Spread:
        """What differs less between runs of one side."""
        return _deciding(self.figures, self.cycles)

    @property
    def detectable(self) -> float:
        """The least change that would be found at least 95 times of 100, as a share."""
        return _detectable(self.deciding, self.among)

    @property
    def differs(self) -> bool:
        """Whether the test says so, and by as much as counts."""
        return self.p <= LEVEL and abs(self.deciding.change) >= math.log1p(LEAST_CHANGE)

    @property
    def contradicted(self) -> bool:
        """Whether the time is sure to go the other way than the cycles, or not to go at all."""
        interval = self.figures.interval(INTERVAL)
        return interval.high <= 1 if self.deciding.change > 0 else interval.low >= 1

    @property
    def by_clock(self) -> bool:
        """Whether time changed where cycles did not."""
        if self.deciding is self.figures or self.differs:
            return False
        return self.figures.p * self.among <= LEVEL and abs(self.figures.change) >= math.log1p(LEAST_CHANGE)

    @property
    def alike(self) -> bool:
        """Whether the sides are the same for all that is known."""
        return self.deciding.interval(INTERVAL).within(min(self.detectable, LARGEST_SAME))


def several_runs(couple: Couple) -> bool:
    """Whether a pair has runs enough that their spread is known."""
    return len(couple.base_runs) + len(couple.other_runs) - 2 >= LEAST_FREEDOM


def rounds_of_runs(quantity: Quantity, couple: Couple) -> RunRounds | None:
    """The rounds of every run; None: one has none, or one that can be no measurement."""
    base, other = (
        [rounds_of(quantity, row) for row in side] for side in (couple.base_runs, couple.other_runs)
    )
    known = [tuple(one for one in side if one is not None) for side in (base, other)]
    if [len(side) for side in known] != [len(base), len(other)]:
        return None
    return RunRounds(couple, *known)


def run_pairs(quantity: Quantity, found: Sequence[RunRounds]) -> list[Pair]:
    """A verdict on each point, all tested as one family."""
    spreads = [
        (spread_of_figures(one.base, one.other), spread_of_cycles(one.base, one.other)) for one in found
    ]
    corrected = holm([_deciding(*both).p for both in spreads])
    tests = [
        RunTest(one, *both, p, len(found)) for one, both, p in zip(found, spreads, corrected, strict=True)
    ]
    return [_pair(quantity, test) for test in tests]


def least_found(logs: Doubles, among: int) -> float:
    """The least change that as many runs again would show at least 95 times of 100, as a share.

    Args:
        logs: Of the medians of at least two runs of a point.
        among: How many points are compared.
    """
    return _detectable(Spread(logs, logs), among)


def _detectable(spread: Spread, among: int) -> float:
    return spread.detectable(LEVEL / among, MISSED, LEAST_CHANGE)


def _deciding(figures: Spread, cycles: Spread | None) -> Spread:
    return cycles if cycles is not None and cycles.deviation < figures.deviation else figures


def _pair(quantity: Quantity, test: RunTest) -> Pair:
    couple, figures = test.rounds.couple, test.figures
    interval = figures.interval(INTERVAL)
    more = test.deciding.change > 0
    changed = test.differs and not test.contradicted
    word = change_word(quantity, more=more)
    verdict = word if changed else "same" if test.alike and not test.by_clock else "inconclusive"
    return Pair(
        couple.base,
        couple.other,
        _figure(figures.base),
        _figure(figures.other),
        ratio=math.exp(figures.change),
        ratio_low=interval.low,
        ratio_high=interval.high,
        verdict=verdict,
        better=improved(quantity, more=more) if changed else None,
        threshold=LEAST_CHANGE,
        detectable=test.detectable,
        p=test.p,
        cycles=None if test.cycles is None else math.exp(test.cycles.change),
        by_clock=test.by_clock or (test.differs and test.contradicted),
        reason="" if changed else _reason(quantity, test, verdict),
    )


def _figure(medians: Doubles) -> Figure:
    """The geometric mean of the runs' medians, from the least to the largest of these."""
    mean, low, high = (float(np.exp(one)) for one in (medians.mean(), medians.min(), medians.max()))
    return Figure(value=mean, low=low, high=high, source=f"geometric mean of {len(medians)} runs' medians")


def _reason(quantity: Quantity, test: RunTest, verdict: PairVerdict) -> str:
    """Why nothing is sure to have changed."""
    if verdict == "same":
        return f"within {percent(min(test.detectable, LARGEST_SAME))}"
    word = change_word(quantity, more=test.figures.change > 0)
    told = f"{change_text(math.expm1(abs(test.figures.change)), word)} {word}"
    if test.differs:
        return "it differs in clock cycles, and the time goes the other way"
    if test.by_clock:
        return f"{told} by the clock alone"
    return f"{told}, but runs differ: it takes {percent(test.detectable)} to be found in {_runs(test)}"


def _runs(test: RunTest) -> str:
    base, other = len(test.rounds.base), len(test.rounds.other)
    return f"{base} runs a side" if base == other else f"{base} and {other} runs"
