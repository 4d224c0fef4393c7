"""Two kernels that took turns, compared round by round."""

import numpy as np

from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.statistics.bootstrap import (
    LEAST_ROUNDS,
    Interval,
    draws,
    interval_of,
    resamples_of,
    thinned,
)


def speedup_interval(kernel: PointRow, peer: PointRow) -> Interval | None:
    """A bootstrap interval of median(peer) / median(kernel): how many times as fast a kernel is.

    Rounds are drawn with replacement, each with both its samples, so that what slowed down a whole round
    cancels (percentile bootstrap of pairs; Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    chapters 8 and 13). None: they did not take turns with each other, or for too few rounds.
    """
    if kernel.sampling_ns is None or kernel.sampling_ns != peer.sampling_ns:
        return None
    ours, theirs = _by_round(kernel), _by_round(peer)
    rounds = sorted(ours.keys() & theirs.keys())
    if len(rounds) < LEAST_ROUNDS:
        return None
    sides = thinned(np.array([[side[number] for number in rounds] for side in (theirs, ours)]))
    count = sides.shape[1]
    drawn = draws(np.random.default_rng(0), count, resamples_of(count))
    medians = np.concatenate([np.median(sides[:, some], axis=-1) for some in drawn], axis=1)
    low, high = interval_of(np.log(medians[0] / medians[1]))
    return Interval(float(low), float(high))


def _by_round(row: PointRow) -> dict[int, float]:
    """The accepted samples of a point that is done, in ms by their round."""
    if not row.done or row.measurement is None:
        return {}
    samples = row.measurement.samples
    return {s.round: s.ms for s in samples if s.round is not None and s.rejected is None}
