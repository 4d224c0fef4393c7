"""Bootstrap intervals of ratios of medians, of many points at once (percentile method).

Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13.
"""

from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
LEAST_ROUNDS = 5  # fewer say nothing of a spread
COVERAGE = 0.95
CHUNK = 256  # points whose resamples are in memory together: 20 MB

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]


class Interval(NamedTuple):
    """Where a ratio lies with 95% confidence."""

    low: float
    high: float


def interval_of(logs: Floats) -> tuple[Floats, Floats]:
    """The ends of intervals of ratios, of the logarithms of their resamples: (..., resamples) to (...)."""
    tail = (1 - COVERAGE) / 2
    low, high = np.quantile(logs, (tail, 1 - tail), axis=-1, overwrite_input=True)
    return np.exp(low), np.exp(high)


def intervals(base: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Intervals of median(other) / median(base): each side's rounds are drawn with replacement.

    The draws depend on nothing but how many rounds there are, so points may stand in any order, and the two
    sides may change places: each half of the draws of one meets the other half of the other's.

    Args:
        base: (points, rounds), positive.
        other: (points, other rounds), positive.

    Returns:
        Low and high ends, (points,) each.
    """
    base, other = np.sort(base, axis=1), np.sort(other, axis=1)
    ends = [
        interval_of(_log_medians(other[at : at + CHUNK], 1) - _log_medians(base[at : at + CHUNK], 0))
        for at in range(0, len(base), CHUNK)
    ]
    low, high = zip(*ends, strict=True)
    return np.concatenate(low), np.concatenate(high)


def _log_medians(ordered: Floats, half: int) -> Floats:
    """Logarithms of the resamples' medians, of ordered rounds: (points, rounds) to (points, resamples)."""
    rounds = ordered.shape[1]
    middles, drawn = _middles(rounds, half)
    low, high = middles
    # A median is one of few values, however many resamples there are.
    return np.log((ordered[:, low] + ordered[:, high]) / 2)[:, drawn]


@cache
def _middles(rounds: int, half: int) -> tuple[Indices, Indices]:
    """The two middle places of a resample of ordered rounds: what there is, (2, kinds), and which are whose.

    Args:
        rounds: How many are drawn of as many.
        half: Which half of the draws comes first, 0 or 1.
    """
    draws = np.random.default_rng(rounds).integers(rounds, size=(2, RESAMPLES // 2, rounds))
    places = np.sort(np.concatenate(draws if half == 0 else draws[::-1]), axis=1)
    middles = places[:, [(rounds - 1) // 2, rounds // 2]]
    kinds, drawn = np.unique(middles, axis=0, return_inverse=True)
    return kinds.T, drawn.reshape(-1)
