"""A verdict for each pair: faster, slower, same or inconclusive, and what speaks for it.

**Faster or slower** (of quantities that are neither: more or less) takes all four:

1. The rounds differ: the Mann-Whitney test's p-value is at most 5%, corrected by Holm over *every pair of the
   whole comparison that is tested*, all sessions together. Where the clock is known the p-value is the larger
   one of two tests, of the figures and of the same in clock cycles, as both have to differ. The test is of
   ranks and counted out exactly, so no shape of the noise is assumed. The bootstrap itself has no p-values as
   small as Holm asks for among hundreds of points (0.05 / 480 is the resolution of its 10,000 resamples), and
   a normal tail would claim them of ten rounds without any right. A rank test of n rounds a side goes down to
   2 / C(2n, n): 1e-5 for ten, which is enough for 4,000 points; of five rounds, 0.008, it is not enough for
   more than six, and such pairs are inconclusive, with that reason.
2. The 95% bootstrap interval of the ratio of medians (profiles.results.bootstrap) excludes 1.
3. The change is at least the threshold: 1%, or 3 MAD / median of either side, or how far the kernel wandered
   when a session measured it twice (profiles.results.compare.noise). Two recordings of the same build differ
   by more than the rounds of either tell; no test of rounds can know that, this can. The MAD is that of the
   figures or of the cycles, whichever is less: what the clock adds to the one is not in the other. Where a
   session on a GPU did not read the clock it takes 7%: as much as clocks alone have been seen to make.
   Among more than a dozen points it takes more of each, 1.35 times as much among 480 (`luck`).
4. In clock cycles it points the same way, by at least the threshold too. Otherwise the clock made the
   change, or so much of it that the rest says nothing: inconclusive, and the reason names the clock.

**Same** takes evidence as well: the whole interval lies within the threshold, on either side of 1, and within
5%, as noise that hides larger changes is no evidence that there are none. Where the figures scatter more than
the cycles do, in both sessions, it may be the interval of the cycles that does so.

Everything else is **inconclusive**, with the reason.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from profiles.results.bootstrap import LEAST_ROUNDS
from profiles.results.compare.design import shortfall
from profiles.results.compare.evidence import TIMED, Couple, rounds_of
from profiles.results.compare.figures import figure_pair, improved
from profiles.results.compare.model import Pair, Verdict
from profiles.results.compare.states import state_pair
from profiles.results.compare.trials import LEVEL, Both, Trial, trials
from profiles.results.quantity import Quantity

LARGEST_SAME = 0.05  # a share
LEAST_TOLD = 0.0005  # a logarithm; less reads 0.0%


class Judgement(NamedTuple):
    """The verdict of a trial, what stands behind it, and whether the clock alone makes the change."""

    verdict: Verdict
    reason: str = ""
    by_clock: bool = False


class Judged(NamedTuple):
    """A verdict for each pair, and why their rounds can decide nothing; empty where they can."""

    pairs: list[Pair]
    caution: str


def judged(quantity: Quantity, couples: Sequence[Couple]) -> Judged:
    """A verdict for every pair of a comparison, in the same order."""
    told = [_settled(quantity, couple) for couple in couples]
    open_ones = [couple for couple, one in zip(couples, told, strict=True) if not isinstance(one, Pair)]
    rounds = [one for one in told if not isinstance(one, Pair)]
    tested = iter(trials(open_ones, rounds, quantity.kind))
    pairs = [one if isinstance(one, Pair) else _pair(quantity, next(tested)) for one in told]
    counts = [(len(base.figures.values), len(other.figures.values)) for base, other in rounds]
    return Judged(pairs, shortfall(counts))


def _settled(quantity: Quantity, couple: Couple) -> Pair | Both:
    """What a pair says without a test, or the rounds to be tested."""
    if not (couple.base.done and couple.other.done):
        return state_pair(couple)
    if quantity.rounds is None:
        return figure_pair(quantity, couple)
    base, other = (rounds_of(quantity, row) for row in couple.rows)
    if base is None or other is None:
        return Pair(*couple.sides, verdict="inconclusive", reason="there are no rounds that can be compared")
    few = min(len(base.figures.values), len(other.figures.values))
    if few < LEAST_ROUNDS:
        ratio = other.figures.median / base.figures.median
        reason = f"too few rounds: {few}, and it takes {LEAST_ROUNDS} in both sessions"
        return Pair(*couple.sides, ratio=ratio, verdict="inconclusive", reason=reason)
    return base, other


def _pair(quantity: Quantity, trial: Trial) -> Pair:
    judgement = _judgement(quantity, trial)
    changed = judgement.verdict not in {"same", "inconclusive"}
    return Pair(
        *trial.couple.sides,
        ratio=trial.ratio,
        ratio_low=min(trial.interval.low, trial.ratio),
        ratio_high=max(trial.interval.high, trial.ratio),
        verdict=judgement.verdict,
        better=improved(quantity, more=trial.ratio > 1) if changed else None,
        threshold=trial.threshold,
        p=trial.p,
        cycles=trial.cycles,
        by_clock=judgement.by_clock,
        reason=judgement.reason,
    )


def _judgement(quantity: Quantity, trial: Trial) -> Judgement:
    least = math.log1p(trial.threshold)
    word = change_word(quantity, more=trial.ratio > 1)
    told = f"{percent(math.expm1(trial.change))} {word}" if trial.change >= LEAST_TOLD else "medians alike"
    if not trial.differs:
        return _unchanged(trial, told)
    if trial.change_in_cycles >= least and trial.p <= LEVEL:
        return Judgement(word)
    if trial.change_in_cycles <= trial.change / 2:
        return Judgement("inconclusive", f"{told} by the clock alone: {trial.clocks}", by_clock=True)
    return Judgement("inconclusive", f"{told}{_in_cycles(trial)}, which is not enough ({trial.clocks})")


def _unchanged(trial: Trial, told: str) -> Judgement:
    """That a pair is the same, or why it is neither that nor sure to differ."""
    alike = min(trial.noise, LARGEST_SAME)
    if trial.within(alike):
        return Judgement("same", f"within {percent(alike)}")
    if trial.within_in_cycles(alike):
        return Judgement("same", f"within {percent(alike)} in clock cycles")
    return Judgement("inconclusive", f"{told}{_in_cycles(trial)}, but {_doubt(trial)}")


def _in_cycles(trial: Trial) -> str:
    """The change in clock cycles, as a part of a sentence; empty where no clock is known."""
    if trial.cycles is None or max(trial.change, abs(trial.cycles - 1)) < LEAST_TOLD:
        return ""
    more = "more" if trial.cycles > 1 else "less"
    unit = "in clock cycles" if trial.kind == "time" else "for each clock cycle"
    return f", {percent(abs(trial.cycles - 1))} {more} {unit}"


def _doubt(trial: Trial) -> str:
    """What a change lacks."""
    if trial.interval.low <= 1 <= trial.interval.high:
        return "the interval holds 1"
    if trial.change < math.log1p(trial.threshold):
        unseen = ", as a clock was not recorded" if trial.clock_unseen else ""
        return f"it takes {percent(trial.threshold)} to count here{unseen}"
    return f"p = {trial.p_figures:.2g} over all points; take more repeats"


def change_word(quantity: Quantity, *, more: bool) -> Verdict:
    """What a change of a quantity is called."""
    better = improved(quantity, more=more)
    if better is None or quantity.kind not in TIMED:
        return "more" if more else "less"
    return "faster" if better else "slower"


def percent(share: float) -> str:
    """A share of a change, with one decimal below 10%; from ten times on the factor, which reads better."""
    if share >= 9:  # noqa: PLR2004 - ten times as much
        return f"{1 + share:,.0f}×"
    return f"{100 * share:.1f}%" if share < 0.0995 else f"{100 * share:.0f}%"  # noqa: PLR2004 - reads 10%
