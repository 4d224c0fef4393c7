"""Order statistics of raw samples."""

from collections.abc import Sequence
from statistics import quantiles
from typing import NamedTuple

from profiles.events import Sample


class Quartiles(NamedTuple):
    """Median and quartiles of the accepted samples, in the samples' unit, and how many there were."""

    q1: float
    median: float
    q3: float
    samples: int


def quartiles(samples: Sequence[Sample]) -> Quartiles | None:
    """Quartiles (inclusive method, Hyndman-Fan 7) of the accepted samples in ms; None when there is none."""
    accepted = [s.ms for s in samples if s.rejected is None]
    if not accepted:
        return None
    if len(accepted) == 1:
        return Quartiles(accepted[0], accepted[0], accepted[0], 1)
    q1, median, q3 = quantiles(accepted, n=4, method="inclusive")
    return Quartiles(q1, median, q3, len(accepted))
