"""What one pair of points has to show of a quantity, before it is judged."""

from typing import NamedTuple

import numpy as np

from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity, QuantityKind
from flashscope.profiles.results.statistics.bootstrap import Doubles
from flashscope.profiles.wire.measurement import Figure

TIMED: frozenset[QuantityKind] = frozenset({"time", "rate"})
"""What a clock changes."""
LEAST, MOST = 1e-100, 1e100  # in any unit


class Couple(NamedTuple):
    """Two points that pair, each measured in one run or in several.

    Attributes:
        base: The baseline's, of its first run.
        other: The other's.
        base_figure: The quantity's figure of the baseline's point.
        other_figure: The same of the other's.
        wander: How far the kernel's time was off when either session measured it again, as a share.
        base_runs: The point in each run of the baseline; none where both are points of one run.
        other_runs: The same of the other side.
    """

    base: PointRow
    other: PointRow
    base_figure: Figure | None
    other_figure: Figure | None
    wander: float
    base_runs: tuple[PointRow, ...] = ()
    other_runs: tuple[PointRow, ...] = ()

    @property
    def of_one_run(self) -> bool:
        """Whether both are points of one run, which share all that differs between runs."""
        return not self.base_runs

    @property
    def sides(self) -> tuple[PointRow, PointRow, Figure | None, Figure | None]:
        """Both points and both figures: what a Pair begins with."""
        return self[:4]

    @property
    def rows(self) -> tuple[PointRow, PointRow]:
        """The points of both sessions."""
        return self.base, self.other


class RoundFigures(NamedTuple):
    """Figures of the rounds of one point, all positive.

    Attributes:
        values: In order of size.
        median: Of these.
        scatter: Their median absolute deviation over the median.
    """

    values: Doubles
    median: float
    scatter: float

    @classmethod
    def of(cls, values: Doubles) -> "RoundFigures":
        """The figures in any order."""
        ordered = np.sort(values)
        median = middle(ordered)
        return cls(ordered, median, middle(np.sort(np.abs(ordered - median))) / median)


class Rounds(NamedTuple):
    """The rounds of one point.

    Attributes:
        figures: Of the quantity.
        cycles: The same per clock cycle instead of per time; None where no clock is known or plays a part.
        clock_mhz: Median clock of the multiprocessors; None where none is known or plays a part.
    """

    figures: RoundFigures
    cycles: RoundFigures | None
    clock_mhz: float | None

    @property
    def scatter(self) -> float:
        """Of the figures or of the cycles, whichever is less: a change has to show in both."""
        return min(one.scatter for one in (self.figures, self.cycles) if one is not None)


def rounds_of(quantity: Quantity, row: PointRow) -> Rounds | None:
    """The rounds of a point; None: it has none, or one that can be no measurement."""
    values = np.array(quantity.rounds(row) if quantity.rounds else (), float)
    if not _measured(values):
        return None
    clock = _clock(quantity, row, len(values))
    if clock is None:
        return Rounds(RoundFigures.of(values), None, None)
    cycles = values * clock if quantity.kind == "time" else values / clock
    return Rounds(RoundFigures.of(values), RoundFigures.of(cycles), middle(np.sort(clock)))


def _clock(quantity: Quantity, row: PointRow, rounds: int) -> Doubles | None:
    """The clock of each round in MHz; None where it is not known of each, or plays no part."""
    known = [s.sm_clock_mhz for s in row.accepted if s.sm_clock_mhz is not None and s.sm_clock_mhz > 0]
    clocks = np.array(known)
    return clocks if quantity.kind in TIMED and len(clocks) == rounds and _measured(clocks) else None


def _measured(values: Doubles) -> bool:
    """Whether there are figures, and each is one that something can have, so that ratios are numbers."""
    return len(values) > 0 and bool(((values > LEAST) & (values < MOST)).all())


def middle(ordered: Doubles) -> float:
    """The median of ordered values."""
    last = len(ordered) - 1
    return float(ordered[last // 2] + ordered[-(last // 2) - 1]) / 2
