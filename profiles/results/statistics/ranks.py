"""Whether two sets of rounds differ at all: the Mann-Whitney test, and Holm's correction for many tests."""

import math
from functools import cache

import numpy as np

from flashscope.profiles.results.statistics.bootstrap import Doubles

EXACT = 40  # rounds of either side up to which the distribution is counted out


def p_value(base: Doubles, other: Doubles) -> float:
    """How probable ranks as far apart as these are if both are drawn from the same distribution (two-sided).

    Mann and Whitney, Annals of Mathematical Statistics 18, 1947: of all pairs of rounds, how many favour one
    side. Ties count for neither side, so a coarse timer makes p larger, never smaller. Both sorted.
    """
    behind = int(np.searchsorted(base, other, side="left").sum())  # of the baseline, below
    ahead = int((len(base) - np.searchsorted(base, other, side="right")).sum())  # above
    few, many = sorted((len(base), len(other)))
    return min(1.0, 2 * _tail(few, many, max(behind, ahead)))


def least_p(few: int, many: int) -> float:
    """The smallest p-value there is for so many rounds of either side: all of one beyond all of the other."""
    few, many = sorted((few, many))
    return min(1.0, 2 * _tail(few, many, few * many))


def _tail(few: int, many: int, pairs: int) -> float:
    """How probable it is that at least so many pairs favour one given side."""
    if many <= EXACT:
        return float(_tails(few, many)[pairs])
    middle, spread = few * many / 2, math.sqrt(few * many * (few + many + 1) / 12)
    return math.erfc((pairs - 0.5 - middle) / spread / math.sqrt(2)) / 2


@cache
def _tails(few: int, many: int) -> Doubles:
    """P(U >= u) for every u from 0 to few * many, without ties."""
    counts = _counts(few, many)
    tails: Doubles = np.cumsum(counts[::-1])[::-1] / counts.sum()
    return tails


@cache
def _counts(few: int, many: int) -> Doubles:
    """In how many orders u pairs favour one side, for every u; by who stands last."""
    if few == 0 or many == 0:
        return np.ones(1)
    counts = np.zeros(few * many + 1)
    counts[many:] += _counts(few - 1, many)
    counts[: few * (many - 1) + 1] += _counts(few, many - 1)
    return counts


def holm(p_values: list[float]) -> list[float]:
    """The p-values corrected so that all tests together err with the probability that one would.

    Holm, Scandinavian Journal of Statistics 6, 1979: the smallest times their number, the next by one less.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected, highest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = highest
    return corrected
