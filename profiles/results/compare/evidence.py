"""What one pair of points has to show of a quantity, before it is judged."""

from typing import NamedTuple

import numpy as np

from profiles.results.bootstrap import Floats
from profiles.results.quantity import Quantity
from profiles.results.rows import PointRow
from profiles.wire.measurement import Figure


class Couple(NamedTuple):
    """Two points that pair.

    Attributes:
        base: The baseline's.
        other: The other's.
        base_figure: The quantity's figure of the baseline's point.
        other_figure: The same of the other's.
        wander: How far the kernel's time was off when either session measured it again, as a share.
    """

    base: PointRow
    other: PointRow
    base_figure: Figure | None
    other_figure: Figure | None
    wander: float

    @property
    def sides(self) -> tuple[PointRow, PointRow, Figure | None, Figure | None]:
        """Both points and both figures: what a Pair begins with."""
        return self[:4]

    @property
    def rows(self) -> tuple[PointRow, PointRow]:
        """Both points."""
        return self.base, self.other


class Rounds(NamedTuple):
    """The rounds of one point.

    Attributes:
        values: Of the quantity, in order of size.
        cycles: Median of the same per clock cycle instead of per time; None where no clock is known.
        clock_mhz: Median clock of the multiprocessors; None as above.
    """

    values: Floats
    cycles: float | None
    clock_mhz: float | None

    @property
    def median(self) -> float:
        """Of the values."""
        return float(np.median(self.values))

    @property
    def possible(self) -> bool:
        """Whether a ratio can be had of them."""
        return bool(len(self.values) and np.isfinite(self.values).all() and (self.values > 0).all())


def rounds_of(quantity: Quantity, row: PointRow) -> Rounds:
    """The rounds of a point; none where the quantity has none on record."""
    values = np.array(quantity.rounds(row) if quantity.rounds else (), float)
    clocks = [sample.sm_clock_mhz for sample in row.accepted]
    known = [clock for clock in clocks if clock is not None and clock > 0]
    if quantity.kind not in {"time", "rate"} or not len(known) == len(clocks) == len(values):
        return Rounds(np.sort(values), None, None)
    clock = np.array(known)
    cycles = values * clock if quantity.kind == "time" else values / clock
    return Rounds(np.sort(values), _median(cycles), _median(clock))


def _median(values: Floats) -> float | None:
    return float(np.median(values)) if len(values) else None
