"""A verdict for each pair: faster, slower, same or inconclusive, and what speaks for it.

**Faster or slower** (of quantities that are neither: more or less) takes all four:

1. The rounds differ: the Mann-Whitney test's p-value, corrected by Holm over *every pair of the whole
   comparison that is tested*, all sessions together, is at most 5%. The test is of ranks and counted out
   exactly, so no shape of the noise is assumed. The bootstrap itself cannot give p-values as small as
   Holm asks for among hundreds of points (0.05 / 480 is its 10,000 resamples' own resolution), and a normal
   tail claims them of ten rounds without any right. A rank test of n rounds a side goes down to
   2 / C(2n, n): 1e-5 for ten, which is enough for 4,000 points. Of five rounds, 0.008, it is not enough for
   more than six; such pairs are inconclusive, with that reason.
2. The 95% bootstrap interval of the ratio of medians (profiles.results.bootstrap) excludes 1.
3. The change is at least the threshold: 1%, or 3 MAD / median of either side, or how far the kernel wandered
   when a session measured it twice (profiles.results.compare.noise). Two recordings of the same
   build differ by more than the rounds of either tell; no test of rounds can know that, this can.
4. In clock cycles it points the same way, by at least the threshold too. Otherwise the clock made the
   change, or so much of it that the rest says nothing: inconclusive, and the reason names the clock.

**Same** takes evidence as well: the whole interval lies within the threshold, on either side of 1, and within
5%, as noise that hides larger changes is no evidence that there are none.

Everything else is **inconclusive**, with the reason.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from profiles.results.bootstrap import LEAST_ROUNDS, Interval, intervals
from profiles.results.compare.evidence import Couple, Rounds, rounds_of
from profiles.results.compare.figures import figure_pair, improved
from profiles.results.compare.model import Pair, Verdict
from profiles.results.compare.noise import threshold
from profiles.results.compare.ranks import holm, p_value
from profiles.results.compare.states import state_pair
from profiles.results.quantity import Quantity

Both: TypeAlias = tuple[Rounds, Rounds]
LEVEL = 0.05  # of all tests together
LARGEST_SAME = 0.05  # a share


@dataclass(frozen=True)
class Trial:
    """A pair that is tested: its rounds, and what the tests said of them."""

    couple: Couple
    base: Rounds
    other: Rounds
    interval: Interval
    p: float

    @property
    def ratio(self) -> float:
        """Of the medians."""
        return self.other.median / self.base.median

    @property
    def cycles(self) -> float | None:
        """The same in clock cycles, None where a clock is not known."""
        return self.other.cycles / self.base.cycles if self.base.cycles and self.other.cycles else None

    @property
    def threshold(self) -> float:
        """The least change that counts."""
        return threshold(scatters=(self.base.scatter, self.other.scatter), wander=self.couple.wander)

    @property
    def clocks(self) -> str:
        """Both clocks, in words."""
        return f"{(self.base.clock_mhz or 0) / 1e3:.2f} → {(self.other.clock_mhz or 0) / 1e3:.2f} GHz"


def judged(quantity: Quantity, couples: Sequence[Couple]) -> list[Pair]:
    """A verdict for every pair of a comparison, in the same order."""
    told = [_settled(quantity, couple) for couple in couples]
    open_ones = [couple for couple, one in zip(couples, told, strict=True) if not isinstance(one, Pair)]
    rounds = [one for one in told if not isinstance(one, Pair)]
    trials = iter(_trials(open_ones, rounds))
    return [one if isinstance(one, Pair) else _pair(quantity, next(trials)) for one in told]


def _settled(quantity: Quantity, couple: Couple) -> Pair | Both:
    """What a pair says without a test, or the rounds to be tested."""
    if not (couple.base.done and couple.other.done):
        return state_pair(couple)
    if quantity.rounds is None:
        return figure_pair(quantity, couple)
    base, other = (rounds_of(quantity, row) for row in couple.rows)
    if base is None or other is None:
        return Pair(*couple.sides, verdict="inconclusive", reason="there are no rounds that can be compared")
    few = min(len(base.values), len(other.values))
    if few < LEAST_ROUNDS:
        reason = f"too few rounds: {few}, and it takes {LEAST_ROUNDS} in both sessions"
        return Pair(*couple.sides, ratio=other.median / base.median, verdict="inconclusive", reason=reason)
    return base, other


def _trials(couples: Sequence[Couple], rounds: Sequence[Both]) -> list[Trial]:
    """Test pairs, all as one family."""
    p_values = holm([p_value(base.values, other.values) for base, other in rounds])
    found = zip(couples, rounds, _intervals(rounds), p_values, strict=True)
    return [Trial(couple, *both, interval, p) for couple, both, interval, p in found]


def _intervals(rounds: Sequence[Both]) -> list[Interval]:
    """The interval of each pair; pairs with as many rounds share their draws."""
    alike: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (base, other) in enumerate(rounds):
        alike[len(base.values), len(other.values)].append(index)
    found: dict[int, Interval] = {}
    for indices in alike.values():
        bases, others = (np.stack([rounds[index][side].values for index in indices]) for side in (0, 1))
        ends = zip(*intervals(bases, others), strict=True)
        found |= {i: Interval(float(low), float(high)) for i, (low, high) in zip(indices, ends, strict=True)}
    return [found[index] for index in range(len(rounds))]


def _pair(quantity: Quantity, trial: Trial) -> Pair:
    verdict, by_clock, reason = _verdict(quantity, trial)
    changed = verdict not in {"same", "inconclusive"}
    return Pair(
        *trial.couple.sides,
        ratio=trial.ratio,
        ratio_low=min(trial.interval.low, trial.ratio),
        ratio_high=max(trial.interval.high, trial.ratio),
        verdict=verdict,
        better=improved(quantity, more=trial.ratio > 1) if changed else None,
        threshold=trial.threshold,
        p=trial.p,
        cycles=trial.cycles,
        by_clock=by_clock,
        reason=reason,
    )


def _verdict(quantity: Quantity, trial: Trial) -> tuple[Verdict, bool, str]:
    """The verdict, whether the clock alone makes the change, and what stands behind it."""
    least, change = trial.threshold, abs(math.log(trial.ratio))
    band = math.log1p(least)
    low, high = map(math.log, trial.interval)
    word = change_word(quantity, more=trial.ratio > 1)
    told = f"{percent(math.expm1(change))} {word}"
    if change < band or trial.p > LEVEL or low <= 0 <= high:
        alike = min(least, LARGEST_SAME)
        if max(-low, high) <= math.log1p(alike):
            return "same", False, f"within {percent(alike)}"
        return "inconclusive", False, _doubt(trial, told)
    cycles = 0.0 if trial.cycles is None else math.log(trial.cycles) * math.copysign(1, math.log(trial.ratio))
    if trial.cycles is None or cycles >= band:
        return word, False, ""
    if cycles <= change / 2:
        return "inconclusive", True, f"{told} by the clock alone: {trial.clocks}"
    in_cycles = f"{percent(math.expm1(cycles))} in clock cycles ({trial.clocks})"
    return "inconclusive", False, f"{told}, but {in_cycles}, less than the {percent(least)} that count here"


def _doubt(trial: Trial, told: str) -> str:
    """Why a pair is neither the same nor sure to differ."""
    if trial.interval.low <= 1 <= trial.interval.high:
        return f"{told}, but the interval holds 1"
    if abs(math.log(trial.ratio)) < math.log1p(trial.threshold):
        return f"{told}, less than the {percent(trial.threshold)} that count here"
    return f"{told}, but p = {trial.p:.2g} over all points; take more repeats"


def change_word(quantity: Quantity, *, more: bool) -> Verdict:
    """What a change of a quantity is called."""
    better = improved(quantity, more=more)
    if better is None or quantity.kind not in {"time", "rate"}:
        return "more" if more else "less"
    return "faster" if better else "slower"


def percent(share: float) -> str:
    """A share of a change, with one decimal below 10%."""
    return f"{100 * share:.1f}%" if share < 0.0995 else f"{100 * share:.0f}%"  # noqa: PLR2004 - reads 10%
