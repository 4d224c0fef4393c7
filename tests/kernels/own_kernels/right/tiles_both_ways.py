"""FlashAttention-2's order: tiles of 32 rows and 40 keys, tiles above the diagonal left out, one division at
the end.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_ROWS, _KEYS = 32, 40


def _row_block(q: Array, k: Array, v: Array, scale: float, last_seen: Array) -> tuple[Array, Array]:
    """O and LSE of some rows, of which each sees the keys up to its `last_seen`."""
    output, total = np.zeros_like(q), np.zeros((*q.shape[:3], 1), np.float32)
    peak = np.full_like(total, np.finfo(np.float32).min)
    for begin in range(0, min(k.shape[2], int(last_seen[-1]) + 1), _KEYS):
        tile = slice(begin, min(begin + _KEYS, k.shape[2]))
        scores = q @ k[:, :, tile].swapaxes(-1, -2) * np.float32(scale)
        scores[..., np.arange(tile.start, tile.stop) > last_seen[:, None]] = -np.inf
        higher = np.maximum(peak, scores.max(axis=-1, keepdims=True))
        weights, shrink = np.exp(scores - higher), np.exp(peak - higher)
        total = total * shrink + weights.sum(axis=-1, keepdims=True)
        output = output * shrink + weights @ v[:, :, tile]
        peak = higher
    with np.errstate(divide="ignore"):
        lse = (peak + np.log(total))[..., 0]
    return output / np.where(total == 0, 1, total), lse


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    group = q.shape[1] // k.shape[1]
    keys, values = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    output, lse = np.empty_like(q), np.empty(q.shape[:3], np.float32)
    for begin in range(0, q.shape[2], _ROWS):
        rows = np.arange(begin, min(begin + _ROWS, q.shape[2]))
        last_seen = rows + (k.shape[2] - q.shape[2]) if causal else np.full_like(rows, k.shape[2] - 1)
        output[:, :, rows], lse[:, :, rows] = _row_block(q[:, :, rows], keys, values, scale, last_seen)
    return output, lse
