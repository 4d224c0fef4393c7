"""Several runs of one plan, each by processes of its own, as one side of a comparison."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.compare.evidence import Rounds
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.statistics.bootstrap import Doubles, Interval
from flashscope.profiles.results.statistics.student import p_value, quantile

RunSide: TypeAlias = Session | Sequence[Session]
"""A session, or several runs of one plan."""
LEAST_FREEDOM = 2  # two runs on each side, or three beside one


def runs_of(side: RunSide) -> tuple[Session, ...]:
    """The runs of a side, in their order.

    Raises:
        InputError: There is none, one is there twice, or they are runs of several plans.
    """
    runs = (side,) if isinstance(side, Session) else tuple(side)
    if not runs:
        raise InputError("There is no run to compare.")
    for place, run in enumerate(runs):
        if run.plan != runs[0].plan:
            raise InputError(
                f"Run {place + 1} has another plan than run 1 (kernels, problems or protocol): runs of one "
                "side are of one plan, as `sweep --runs` makes them."
            )
    if len({run.id for run in runs}) < len(runs):
        raise InputError("The same run is there twice; a run counts once.")
    return runs


class Spread(NamedTuple):
    """What the runs of both sides say of one figure: natural logarithms of their medians.

    Attributes:
        base: Of the baseline's runs.
        other: Of the other side's.
    """

    base: Doubles
    other: Doubles

    @classmethod
    def of(cls, base: Sequence[float], other: Sequence[float]) -> "Spread":
        """The medians of the runs, all positive, in any unit."""
        return cls(np.log(np.array(base)), np.log(np.array(other)))

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the spread between runs."""
        return len(self.base) + len(self.other) - 2

    @property
    def change(self) -> float:
        """The logarithm of the ratio of the geometric means, the other side's over the baseline's."""
        return float(self.other.mean() - self.base.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation between runs of one side, pooled over both; of logarithms."""
        squares = sum(float(((side - side.mean()) ** 2).sum()) for side in self)
        return math.sqrt(squares / self.freedom)

    @property
    def error(self) -> float:
        """The standard error of `change`."""
        return self.deviation * math.sqrt(1 / len(self.base) + 1 / len(self.other))

    @property
    def p(self) -> float:
        """Of the t-test that both sides' runs are drawn alike (two-sided, pooled variance)."""
        if self.error == 0:
            return float(self.change == 0)
        return p_value(self.change / self.error, self.freedom)

    def interval(self, level: float) -> Interval:
        """The ratio's interval that misses it with this probability."""
        reach = quantile(level, self.freedom) * self.error
        return Interval(math.exp(self.change - reach), math.exp(self.change + reach))

    def detectable(self, level: float, missed: float, least: float) -> float:
        """The change that is missed with a probability of `missed` only, as a share.

        Args:
            level: Of the test that has to find it.
            missed: Below a half.
            least: The share from which on a change counts.
        """
        counts = max(quantile(level, self.freedom) * self.error, math.log1p(least))
        return math.expm1(min(counts + quantile(2 * missed, self.freedom) * self.error, MOST))


MOST = 700.0  # a logarithm whose exponential a double still holds


def spread_of_figures(base: Sequence[Rounds], other: Sequence[Rounds]) -> Spread:
    """How the figures' medians differ between runs."""
    return Spread.of([one.figures.median for one in base], [one.figures.median for one in other])


def spread_of_cycles(base: Sequence[Rounds], other: Sequence[Rounds]) -> Spread | None:
    """The same in clock cycles; None where the clock of a run is not known or plays no part."""
    medians = [[one.cycles.median for one in side if one.cycles is not None] for side in (base, other)]
    if [len(side) for side in medians] != [len(base), len(other)]:
        return None
    return Spread.of(*medians)
