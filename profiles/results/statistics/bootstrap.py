"""Bootstrap intervals of ratios of medians, of many points at once (percentile method).

Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13.
"""

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
LEAST_ROUNDS = 5  # fewer say nothing of a spread
COVERAGE = 0.95
CHUNK = 256  # points whose resamples are in memory together: 20 MB
DRAWN = 2_500_000  # numbers drawn for one interval, from which on there are fewer resamples,
FEWEST = 1000  # but never less than this
MOST_ROUNDS = DRAWN // FEWEST  # drawn from: of more some are left out, evenly, and intervals are wider
AT_ONCE = 1 << 20  # numbers drawn that are in memory together: 8 MB

Doubles = NDArray[np.float64]
Indices = NDArray[np.intp]


class Interval(NamedTuple):
    """Where a ratio lies with 95% confidence."""

    low: float
    high: float

    def within(self, share: float) -> bool:
        """Whether all of it is no further than this from 1, on either side."""
        return max(-math.log(self.low), math.log(self.high)) <= math.log1p(share)


def interval_of(logs: Doubles, coverage: float = COVERAGE) -> tuple[Doubles, Doubles]:
    """The ends of intervals of ratios, of the logarithms of their resamples: (..., resamples) to (...)."""
    tail = (1 - coverage) / 2
    low, high = np.quantile(logs, (tail, 1 - tail), axis=-1, overwrite_input=True)
    return np.exp(low), np.exp(high)


def resamples_of(rounds: int) -> int:
    """How many resamples there are of so many rounds: an even number."""
    return min(RESAMPLES, max(FEWEST, DRAWN // rounds // 2 * 2))


def thinned(rounds: Doubles) -> Doubles:
    """As many rounds as are drawn from, evenly taken along the last axis; all where they are not more."""
    count = rounds.shape[-1]
    if count <= MOST_ROUNDS:
        return rounds
    return rounds[..., np.linspace(0, count - 1, MOST_ROUNDS).astype(int)]


def draws(generator: np.random.Generator, rounds: int, resamples: int) -> Iterator[Indices]:
    """Draw so many rounds of as many, again and again: (some resamples, rounds) at a time."""
    step = max(1, AT_ONCE // rounds)
    for at in range(0, resamples, step):
        yield generator.integers(rounds, size=(min(step, resamples - at), rounds))


def intervals(base: Doubles, other: Doubles, coverage: float = COVERAGE) -> tuple[Doubles, Doubles]:
    """Intervals of median(other) / median(base): each side's rounds are drawn with replacement.

    The draws depend on nothing but how many rounds there are, so points may stand in any order, and the two
    sides may change places: each half of the draws of one meets the other half of the other's.

    Args:
        base: (points, rounds), positive.
        other: (points, other rounds), positive.
        coverage: How probable it is that a ratio lies in its interval.

    Returns:
        Low and high ends, (points,) each.
    """
    base, other = (thinned(np.sort(side, axis=1)) for side in (base, other))
    resamples = resamples_of(max(base.shape[1], other.shape[1]))
    ends = [
        interval_of(
            _log_medians(other[at : at + CHUNK], 1, resamples)
            - _log_medians(base[at : at + CHUNK], 0, resamples),
            coverage,
        )
        for at in range(0, len(base), CHUNK)
    ]
    low, high = zip(*ends, strict=True)
    return np.concatenate(low), np.concatenate(high)


def _log_medians(ordered: Doubles, half: int, resamples: int) -> Doubles:
    """Logarithms of the resamples' medians, of ordered rounds: (points, rounds) to (points, resamples)."""
    (low, high), drawn = _middles(ordered.shape[1], resamples)
    # A median is one of few values, however many resamples there are.
    medians = np.log((ordered[:, low] + ordered[:, high]) / 2)
    return medians[:, drawn if half == 0 else np.roll(drawn, -(resamples // 2))]


@cache
def _middles(rounds: int, resamples: int) -> tuple[Indices, Indices]:
    """The two middle places of a resample of ordered rounds: what there is, (2, kinds), and which are whose.

    Args:
        rounds: How many are drawn of as many.
        resamples: How often.
    """
    places = [(rounds - 1) // 2, rounds // 2]
    drawn = draws(np.random.default_rng(rounds), rounds, resamples)
    middles = np.concatenate([np.partition(some, places, axis=1)[:, places] for some in drawn])
    kinds, whose = np.unique(middles, axis=0, return_inverse=True)
    return kinds.T, whose.reshape(-1)
