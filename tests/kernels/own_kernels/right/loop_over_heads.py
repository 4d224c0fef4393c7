"""One head after the other, each with the two-dimensional arrays that it needs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _head(q: Array, k: Array, v: Array, scale: float, kept: Array | None) -> tuple[Array, Array]:
    """O and LSE of one head."""
    scores = np.float32(scale) * (q @ k.T)
    if kept is not None:
        scores[~kept] = -np.inf
    peak = np.maximum(scores.max(axis=1), np.finfo(np.float32).min)
    weights = np.exp(scores - peak[:, None])
    total = weights.sum(axis=1)
    with np.errstate(divide="ignore"):
        lse = peak + np.log(total)
    return (weights @ v) / np.where(total == 0, 1, total)[:, None], lse


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    kept = np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool) if causal else None
    output, lse = np.empty_like(q), np.empty(q.shape[:3], np.float32)
    group = q.shape[1] // k.shape[1]
    for batch in range(q.shape[0]):
        for head in range(q.shape[1]):
            shared = head // group
            one = _head(q[batch, head], k[batch, shared], v[batch, shared], scale, kept)
            output[batch, head], lse[batch, head] = one
    return output, lse
