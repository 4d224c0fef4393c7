"""Stacks the rows of all heads that share keys into one long head, so that K and V are never repeated."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    batch, heads, rows, head_dim = q.shape
    stacked = q.reshape(batch, k.shape[1], heads // k.shape[1] * rows, head_dim)
    scores = stacked @ k.swapaxes(-1, -2) * np.float32(scale)
    if causal:
        hidden = ~np.tri(rows, k.shape[2], k.shape[2] - rows, dtype=bool)
        scores[..., np.tile(hidden, (heads // k.shape[1], 1))] = -np.inf
    peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = peak + np.log(total)
    output = weights @ v / np.where(total == 0, 1, total)
    return output.reshape(q.shape), lse.reshape(q.shape[:3])
