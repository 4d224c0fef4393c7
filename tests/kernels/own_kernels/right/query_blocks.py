"""Blocks of 37 rows, each with just the keys that one of its rows sees; returns O alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_BLOCK = 37


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> Array:
    """O."""
    group = q.shape[1] // k.shape[1]
    keys, values = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    offset = k.shape[2] - q.shape[2]
    output = np.zeros_like(q)
    for begin in range(0, q.shape[2], _BLOCK):
        rows = np.arange(begin, min(begin + _BLOCK, q.shape[2]))
        seen = max(rows[-1] + 1 + offset, 0) if causal else k.shape[2]
        if not seen:
            continue
        scores = q[:, :, rows] @ keys[:, :, :seen].swapaxes(-1, -2) * np.float32(scale)
        if causal:
            scores[..., np.arange(seen) > rows[:, None] + offset] = -np.inf
        peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
        weights = np.exp(scores - peak)
        total = weights.sum(axis=-1, keepdims=True)
        output[:, :, rows] = weights @ values[:, :, :seen] / np.where(total == 0, 1, total)
    return output
