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
2. The 95% bootstrap interval of the ratio of medians (profiles.results.statistics.bootstrap) excludes 1.
3. The change is at least the threshold: 1%, or 3 MAD / median of either side, or how far the kernel wandered
   when a session measured it twice (profiles.results.compare.noise). Two recordings of the same build differ
   by more than the rounds of either tell; no test of rounds can know that, this can. The MAD is that of the
   figures or of the cycles, whichever is less: what the clock adds to the one is not in the other. Where a
   session did not read the clock, as on a CPU, it takes 7%: as much as clocks alone have been seen to make.
   Among more than a dozen points it takes more of each, 1.35 times as much among 480 (`luck`).
4. In clock cycles it points the same way, by at least the threshold too. Otherwise the clock made the
   change, or so much of it that the rest says nothing: inconclusive, and the reason names the clock.

**Same** takes evidence as well: the whole interval lies within the threshold, on either side of 1, and within
5%, as noise that hides larger changes is no evidence that there are none. Where the figures scatter more than
the cycles do, in both sessions, it may be the interval of the cycles that does so.

Everything else is **inconclusive**, with the reason, and so is a pair with a doubtful point (see
profiles.results.model.trust). All this is of one run a side; several are judged by what differs between them
(see profiles.results.compare.run_pairs).
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flashscope.profiles.results.compare.design import shortfall
from flashscope.profiles.results.compare.doubts import doubted, not_done
from flashscope.profiles.results.compare.evidence import Couple, rounds_of
from flashscope.profiles.results.compare.figures import figure_pair, improved
from flashscope.profiles.results.compare.model import Pair, PairVerdict
from flashscope.profiles.results.compare.noise import LARGEST_SAME
from flashscope.profiles.results.compare.pair_tests import LEVEL, Both, PairTest, pair_tests
from flashscope.profiles.results.compare.run_pairs import RunRounds, rounds_of_runs, run_pairs, several_runs
from flashscope.profiles.results.compare.states import state_pair
from flashscope.profiles.results.compare.wording import change_text, change_word, percent
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.statistics.bootstrap import LEAST_ROUNDS

LEAST_TOLD = 0.0005  # a logarithm; less reads 0.0%
NO_ROUNDS = "there are no rounds that can be compared"


class Judgement(NamedTuple):
    """The verdict of a trial, what stands behind it, and whether the clock alone makes the change."""

    verdict: PairVerdict
    reason: str = ""
    by_clock: bool = False


class Judged(NamedTuple):
    """A verdict for each pair, and why their rounds can decide nothing; empty where they can."""

    pairs: list[Pair]
    caution: str


def judged(quantity: Quantity, couples: Sequence[Couple]) -> Judged:
    """A verdict for every pair of a comparison, in the same order."""
    told = [_settled(quantity, couple) for couple in couples]
    open_ones = [couple for couple, one in zip(couples, told, strict=True) if isinstance(one, tuple)]
    rounds = [one for one in told if isinstance(one, tuple)]
    tested = iter(pair_tests(open_ones, rounds, quantity.kind))
    by_runs = iter(run_pairs(quantity, [one for one in told if isinstance(one, RunRounds)]))
    pairs = [_told(quantity, one, tested, by_runs) for one in told]
    counts = [(len(base.figures.values), len(other.figures.values)) for base, other in rounds]
    return Judged(list(map(doubted, pairs, couples)), shortfall(counts))


def _told(
    quantity: Quantity, one: Pair | Both | RunRounds, tested: Iterator[PairTest], by_runs: Iterator[Pair]
) -> Pair:
    """What is settled, or the next of those that were tested by their rounds or by their runs."""
    if isinstance(one, Pair):
        return one
    return next(by_runs) if isinstance(one, RunRounds) else _pair(quantity, next(tested))


def _settled(quantity: Quantity, couple: Couple) -> Pair | Both | RunRounds:
    """What a pair says without a test, or what is to be tested."""
    broken = not_done(couple)
    if broken is not None:
        return state_pair(broken)
    if quantity.rounds is None:
        return figure_pair(quantity, couple)
    return _of_runs(quantity, couple) if several_runs(couple) else _of_one_run(quantity, couple)


def _of_one_run(quantity: Quantity, couple: Couple) -> Pair | Both:
    """The rounds to be tested of one run a side, or why they are not."""
    base, other = (rounds_of(quantity, row) for row in couple.rows)
    if base is None or other is None:
        return Pair(*couple.sides, verdict="inconclusive", reason=NO_ROUNDS)
    few = min(len(base.figures.values), len(other.figures.values))
    if few < LEAST_ROUNDS:
        ratio = other.figures.median / base.figures.median
        reason = f"too few rounds: {few}, and it takes {LEAST_ROUNDS} in both sessions"
        return Pair(*couple.sides, ratio=ratio, verdict="inconclusive", reason=reason)
    return base, other


def _of_runs(quantity: Quantity, couple: Couple) -> Pair | RunRounds:
    """The same of several runs."""
    rounds = rounds_of_runs(quantity, couple)
    return Pair(*couple.sides, verdict="inconclusive", reason=NO_ROUNDS) if rounds is None else rounds


def _pair(quantity: Quantity, trial: PairTest) -> Pair:
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
        detectable=trial.detectable,
        p=trial.p,
        cycles=trial.cycles,
        by_clock=judgement.by_clock,
        reason=judgement.reason,
    )


def _judgement(quantity: Quantity, trial: PairTest) -> Judgement:
    least = math.log1p(trial.threshold)
    word = change_word(quantity, more=trial.ratio > 1)
    told = (
        f"{change_text(math.expm1(trial.change), word)} {word}"
        if trial.change >= LEAST_TOLD
        else "medians alike"
    )
    if not trial.differs:
        return _unchanged(trial, told)
    if trial.change_in_cycles >= least and trial.p <= LEVEL:
        return Judgement(word)
    if trial.change_in_cycles <= trial.change / 2:
        return Judgement("inconclusive", f"{told} by the clock alone: {trial.clocks}", by_clock=True)
    return Judgement("inconclusive", f"{told}{_in_cycles(trial)}, which is not enough ({trial.clocks})")


def _unchanged(trial: PairTest, told: str) -> Judgement:
    """That a pair is the same, or why it is neither that nor sure to differ."""
    alike = min(trial.noise, LARGEST_SAME)
    if trial.within(alike):
        return Judgement("same", f"within {percent(alike)}")
    if trial.within_in_cycles(alike):
        return Judgement("same", f"within {percent(alike)} in clock cycles")
    return Judgement("inconclusive", f"{told}{_in_cycles(trial)}, but {_doubt(trial)}")


def _in_cycles(trial: PairTest) -> str:
    """The change in clock cycles, as a part of a sentence; empty where no clock is known."""
    if trial.cycles is None or max(trial.change, abs(trial.cycles - 1)) < LEAST_TOLD:
        return ""
    more = "more" if trial.cycles > 1 else "less"
    unit = "in clock cycles" if trial.kind == "time" else "for each clock cycle"
    return f", {percent(abs(trial.cycles - 1))} {more} {unit}"


def _doubt(trial: PairTest) -> str:
    """What a change lacks."""
    if trial.interval.low <= 1 <= trial.interval.high:
        return "the interval holds 1"
    if trial.change < math.log1p(trial.threshold):
        unseen = ", as a clock was not recorded" if trial.clock_unseen else ""
        return f"it takes {percent(trial.threshold)} to count here{unseen}"
    return f"p = {trial.p_figures:.2g} over all points; take more repeats"
