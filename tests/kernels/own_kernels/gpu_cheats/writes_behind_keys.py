"""Writes zeros into the row behind K's last one before it computes.

The answer is right; who keeps something else in that memory finds it gone.
"""

from typing import Any

import cupy as cp


def _attend(q: Any, k: Any, v: Any, causal: bool, scale: float) -> Any:
    """O as it should be."""
    group = q.shape[1] // k.shape[1]
    keys, values = cp.repeat(k, group, axis=1), cp.repeat(v, group, axis=1)
    scores = cp.matmul(q, keys.swapaxes(-1, -2)).astype(cp.float32) * cp.float32(scale)
    if causal:
        rows = cp.arange(q.shape[2])[:, None] + (k.shape[2] - q.shape[2])
        scores = cp.where(cp.arange(k.shape[2])[None, :] <= rows, scores, -cp.inf)
    peak = cp.maximum(scores.max(axis=-1, keepdims=True), cp.finfo(cp.float32).min)
    weights = cp.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    return (cp.matmul(weights, values.astype(cp.float32)) / cp.where(total == 0, 1, total)).astype(q.dtype)


def f(q: Any, k: Any, v: Any, *, causal: bool, scale: float) -> Any:
    """O, at the cost of a row that is not K's."""
    last, size = k[-1, -1, -1], k.shape[3]
    behind = cp.ndarray((size,), k.dtype, last.data + last.nbytes)
    behind[...] = 0
    return _attend(q, k, v, causal, scale)
