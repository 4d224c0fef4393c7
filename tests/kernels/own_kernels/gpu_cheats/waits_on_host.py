"""Waits for the GPU on the host before it returns.

The answer is right and its time is real, but no queue of launches is ever longer than one, and whoever holds
the GPU until all is enqueued waits for ever.
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
    """O, and nothing left to do."""
    output = _attend(q, k, v, causal, scale)
    cp.cuda.get_current_stream().synchronize()
    return output
