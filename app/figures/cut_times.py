"""How long cuts took: in first rounds of all, and in fresh ones of the fastest."""

from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import NamedTuple

from flashscope.app.words.inside.landscapes import fresh_words
from flashscope.app.words.units import ms_between_text
from flashscope.kernels.workload.cut import Cut
from flashscope.profiles.results.model.fresh_rounds import FreshRounds
from flashscope.profiles.wire.cuts import CutTimes

ANEW = "◆"
QUARTERS = 4


class RoundTimes(NamedTuple):
    """How long a cut took: in the first rounds, and in fresh ones if it was among the fastest."""

    first: CutTimes | None = None
    anew: CutTimes | None = None

    @property
    def ms(self) -> tuple[float, ...]:
        """The times that count: of fresh rounds where there are any."""
        for timed in (self.anew, self.first):
            if timed is not None and timed.ms:
                return timed.ms
        return ()

    def with_one(self, timed: CutTimes) -> "RoundTimes":
        """The same with what was told."""
        return self._replace(anew=timed) if timed.anew else RoundTimes(timed)

    @property
    def told(self) -> Sequence[str]:
        """How long it took, a line for the first rounds and one for the fresh ones."""
        parts = (("in the first rounds", self.first), ("in fresh rounds", self.anew))
        return [f"{time_words(timed.ms)} {where}" for where, timed in parts if timed and timed.ms]

    @property
    def failure(self) -> str:
        """Why it could not be timed; empty: it was, or nobody tried."""
        return self.first.failure if self.first else ""

    @property
    def mark(self) -> str:
        """That it was timed anew."""
        return ANEW if self.anew else ""


def time_words(ms: Sequence[float]) -> str:
    """A median with its quartiles, in its unit: `6.53 ms (6.50 to 6.61)`."""
    return ms_between_text(median(ms), *quartiles(ms))


def quartiles(ms: Sequence[float]) -> tuple[float, float]:
    """The lower and the upper one; of one time itself."""
    if len(ms) == 1:
        return ms[0], ms[0]
    cuts = quantiles(ms, n=QUARTERS, method="inclusive")
    return cuts[0], cuts[-1]


def verdict(times: Mapping[Cut, RoundTimes], shipped: Cut) -> str:
    """Which cut is fastest on fresh rounds, and how far the shipped one is from it; empty: none was."""
    anew = {cut: one.anew.ms for cut, one in times.items() if one.anew}
    fresh = FreshRounds.of(anew, shipped)
    return fresh_words(fresh, shipped, {cut: time_words(ms) for cut, ms in anew.items() if ms})
