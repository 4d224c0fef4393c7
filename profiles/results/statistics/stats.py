"""Order statistics of raw samples."""

from collections.abc import Sequence
from statistics import quantiles
from typing import NamedTuple

from flashscope.profiles.wire.measurement import Sample


class Quartiles(NamedTuple):
    """Median and quartiles of some values, in their unit, and how many there were."""

    q1: float
    median: float
    q3: float
    samples: int


def quartiles(samples: Sequence[Sample]) -> Quartiles | None:
    """Quartiles of the accepted samples in ms; None when there is none."""
    return quartiles_of([s.ms for s in samples if s.rejected is None])


def quartiles_of(values: Sequence[float]) -> Quartiles | None:
    """Quartiles (inclusive method, Hyndman-Fan 7) of some values; None when there is none."""
    if not values:
        return None
    if len(values) == 1:
        return Quartiles(values[0], values[0], values[0], 1)
    q1, median, q3 = quantiles(values, n=4, method="inclusive")
    return Quartiles(q1, median, q3, len(values))
