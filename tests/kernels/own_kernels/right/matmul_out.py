"""Keeps a buffer for S between calls and computes in place with `out=`; O and LSE are new in every call."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_BUFFERS: dict[tuple[int, ...], Array] = {}


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    group = q.shape[1] // k.shape[1]
    keys, values = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    shape = (*q.shape[:3], k.shape[2])
    scores = _BUFFERS.setdefault(shape, np.empty(shape, np.float32))
    np.matmul(q, keys.swapaxes(-1, -2), out=scores)
    np.multiply(scores, np.float32(scale), out=scores)
    if causal:
        kept = np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)
        np.copyto(scores, np.float32(-np.inf), where=~kept)
    peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
    np.subtract(scores, peak, out=scores)
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    output = np.matmul(scores, values)
    np.divide(output, total, out=output, where=total != 0)
    with np.errstate(divide="ignore"):
        lse = (peak + np.log(total))[..., 0]
    return output, lse
