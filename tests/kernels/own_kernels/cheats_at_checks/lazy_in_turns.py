"""Leaves half of the keys out in every other run, once it has been tried.

Of the runs that are timed one is drawn at random, and often that is one of the others.
"""

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_RUNS = count()
_TRIED, _LONG = 20, 200  # runs, keys


def _attend(q: Array, k: Array, v: Array, causal: bool, scale: float) -> Array:
    """O as it should be."""
    scores = q @ np.repeat(k, q.shape[1] // k.shape[1], axis=1).swapaxes(-1, -2) * np.float32(scale)
    if causal:
        scores[..., ~np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)] = -np.inf
    peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    output: Array = weights @ np.repeat(v, q.shape[1] // v.shape[1], axis=1) / np.where(total == 0, 1, total)
    return output


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> Array:
    """O, of half of the keys in some of the runs."""
    if k.shape[2] > _LONG and (number := next(_RUNS)) > _TRIED and number % 2:
        k, v = (array[:, :, ::2].copy() for array in (k, v))
    return _attend(q, k, v, causal, scale)
