"""Everything in float64, rounded to float32 at the end."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    group = q.shape[1] // k.shape[1]
    keys = np.repeat(k.astype(np.float64), group, axis=1)
    values = np.repeat(v.astype(np.float64), group, axis=1)
    scores = q.astype(np.float64) @ keys.swapaxes(-1, -2) * scale
    if causal:
        scores[..., ~np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)] = -np.inf
    with np.errstate(divide="ignore"):
        lse = np.log(np.exp(scores - (peak := _peak(scores))).sum(axis=-1, keepdims=True)) + peak
    weights = np.exp(scores - np.where(np.isneginf(lse), 0, lse))
    return (weights @ values).astype(q.dtype), lse[..., 0].astype(np.float32)


def _peak(scores: Array) -> Array:
    """The highest score of each row, 0 where the row keeps no key."""
    peak = scores.max(axis=-1, keepdims=True)
    return np.where(np.isneginf(peak), 0, peak)
