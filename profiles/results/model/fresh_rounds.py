"""What fresh rounds say of cuts: which is fastest, and how far the shipped one is from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.profiles.results.statistics.bootstrap import COVERAGE, LEAST_ROUNDS, Interval, intervals


@dataclass(frozen=True)
class FreshRounds:
    """Numbers of the cuts that were timed anew: whoever won the first rounds was lucky, too.

    Attributes:
        ranked: These cuts, the fastest first, with their medians in ms.
        distance: The shipped cut's time over that of the fastest, 1 where it is that; None where it was not
            timed anew.
        interval: Where that ratio lies. The fastest is one of several that may win by luck: the ratios to all
            of them lie in such intervals together 95 times of 100. None where the shipped cut is fastest, or
            rounds are too few.
    """

    ranked: tuple[tuple[Cut, float], ...]
    distance: float | None
    interval: Interval | None

    @property
    def best(self) -> Cut | None:
        """The fastest."""
        return self.ranked[0][0] if self.ranked else None

    @property
    def beaten(self) -> bool:
        """Whether another cut is faster than the shipped one for all that is known."""
        return self.interval is not None and self.interval.low > 1

    @classmethod
    def of(cls, times: Mapping[Cut, Sequence[float]], shipped: Cut) -> "FreshRounds":
        """From times in ms of fresh rounds, by their cuts; cuts without any take no part."""
        medians = {cut: median(ms) for cut, ms in times.items() if ms}
        ranked = tuple(sorted(medians.items(), key=lambda pair: pair[1]))
        if shipped not in medians:
            return cls(ranked, None, None)
        best = ranked[0][0]
        interval = None
        if best != shipped:
            interval = _interval(times[best], times[shipped], others=len(ranked) - 1)
        return cls(ranked, medians[shipped] / medians[best], interval)

    @classmethod
    def of_landscape(cls, landscape: CutLandscape) -> "FreshRounds":
        """Those of a landscape."""
        return cls.of({cell.cut: cell.anew_ms for cell in landscape.cells}, landscape.shipped)


def _interval(best: Sequence[float], own: Sequence[float], others: int) -> Interval | None:
    if min(len(best), len(own)) < LEAST_ROUNDS:
        return None
    coverage = 1 - (1 - COVERAGE) / others
    (low,), (high,) = intervals(np.array([best]), np.array([own]), coverage)
    return Interval(float(low), float(high))
