"""The online softmax over blocks of 48 keys, for all rows at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_BLOCK = 48


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    group = q.shape[1] // k.shape[1]
    rows, keys = q.shape[2], k.shape[2]
    output = np.zeros_like(q)
    total = np.zeros((*q.shape[:3], 1), np.float32)
    peak = np.full_like(total, np.finfo(np.float32).min)
    last_seen = np.arange(rows)[:, None] + (keys - rows)
    for begin in range(0, keys, _BLOCK):
        block = slice(begin, min(begin + _BLOCK, keys))
        scores = q @ np.repeat(k[:, :, block], group, axis=1).swapaxes(-1, -2) * np.float32(scale)
        if causal:
            scores[..., np.arange(block.start, block.stop) > last_seen] = -np.inf
        higher = np.maximum(peak, scores.max(axis=-1, keepdims=True))
        weights, shrink = np.exp(scores - higher), np.exp(peak - higher)
        total = total * shrink + weights.sum(axis=-1, keepdims=True)
        output = output * shrink + weights @ np.repeat(v[:, :, block], group, axis=1)
        peak = higher
    with np.errstate(divide="ignore"):
        lse = (peak + np.log(total))[..., 0]
    return output / np.where(total == 0, 1, total), lse
