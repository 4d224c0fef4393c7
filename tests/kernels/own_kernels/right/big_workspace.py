"""Allocates 256 MiB of zeros in every call, more where S and P need it, and computes in a part of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_FLOATS = 64 * 2**20


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    shape = (*q.shape[:3], k.shape[2])
    count = int(np.prod(shape))
    workspace = np.zeros(max(_FLOATS, 2 * count), np.float32)
    scores, weights = workspace[:count].reshape(shape), workspace[-count:].reshape(shape)
    group = q.shape[1] // k.shape[1]
    np.matmul(q, np.repeat(k, group, axis=1).swapaxes(-1, -2), out=scores)
    scores *= np.float32(scale)
    if causal:
        scores[..., ~np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)] = -np.inf
    peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
    np.exp(scores - peak, out=weights)
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (peak + np.log(total))[..., 0]
    return weights @ np.repeat(v, group, axis=1) / np.where(total == 0, 1, total), lse
