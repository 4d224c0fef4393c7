"""What the samples of a point say of themselves, in order of time: scatter, drift, two clusters, outliers."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from flashscope.profiles.results.statistics.stats import quartiles_of

DRIFT_LEAST = 0.03  # of the median
DRIFT_P = 0.01  # of ranks as far apart, did the halves not differ
FEWEST_OF_GROUP, SHARE_OF_GROUP = 2, 0.2  # samples
GROUPS_APART = 0.05  # of the median
GROUPS_WIDTHS = 2.0  # of the wider group, between both
OUTLIER = 0.2  # of the median, beyond it
LEAST_TO_JUDGE = 8  # samples: fewer show neither a drift nor two clusters


class Clusters(NamedTuple):
    """Samples in two clusters: the medians of the lower and the upper, in ms, and how many lie in each."""

    lower_ms: float
    upper_ms: float
    lower: int
    upper: int


def relative_spread(values: Sequence[float]) -> float:
    """The distance between the quartiles as a share of the median."""
    known = quartiles_of(values)
    return (known.q3 - known.q1) / known.median if known and known.median > 0 else 0.0


def drift(values: Sequence[float]) -> float | None:
    """By what share the later half of the samples differs from the earlier one; None: it does not.

    It does where the medians differ by 3% and ranks as far apart are rarer than 1% (Mann-Whitney, two-sided).
    """
    half = len(values) // 2
    if len(values) < LEAST_TO_JUDGE:
        return None
    earlier, later = values[:half], values[-half:]
    change = median(later) / median(earlier) - 1 if median(earlier) > 0 else 0.0
    return change if abs(change) >= DRIFT_LEAST and _improbable(earlier, later) else None


def two_clusters(values: Sequence[float]) -> Clusters | None:
    """The samples as two clusters with nothing between, so that their median is that of either by chance.

    The widest gap parts them. It counts where a fifth of the samples, and two, lie on each side, where it is
    twice as wide as the wider group (a tenth at each of its ends left out) and the medians are 5%
    apart. None: one group.
    """
    rising = sorted(values)
    few = max(FEWEST_OF_GROUP, round(SHARE_OF_GROUP * len(rising)))
    if len(rising) < max(LEAST_TO_JUDGE, 2 * few):
        return None
    gaps = {place: rising[place] - rising[place - 1] for place in range(few, len(rising) - few + 1)}
    place = max(gaps, key=gaps.__getitem__)
    lower, upper = rising[:place], rising[place:]
    apart = median(upper) - median(lower) >= GROUPS_APART * median(rising)
    clear = gaps[place] >= GROUPS_WIDTHS * max(_width(lower), _width(upper))
    return Clusters(median(lower), median(upper), len(lower), len(upper)) if apart and clear else None


def outliers(values: Sequence[float]) -> int:
    """How many samples are more than a fifth away from the median."""
    middle = median(values)
    return sum(abs(value - middle) > OUTLIER * middle for value in values)


def _improbable(earlier: Sequence[float], later: Sequence[float]) -> bool:
    """Whether ranks as far apart would hardly come by chance."""
    import numpy as np  # noqa: PLC0415 - what a start does not wait for

    from flashscope.profiles.results.statistics.ranks import p_value  # noqa: PLC0415 - it takes NumPy along

    return p_value(np.sort(earlier), np.sort(later)) < DRIFT_P


def _width(group: Sequence[float]) -> float:
    """From the least to the most, a tenth at each end left out."""
    end = len(group) // 10
    return group[-1 - end] - group[end]
