"""Rounds the keys up to a multiple of 64 in place, with zeros written behind the end of K where K is part of
a larger array.

Its own O is right and Q, K and V as given are untouched; what the caller keeps in the same allocation behind
K, a guard, a neighbour or the next tensor, is gone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _attend(q: Array, k: Array, v: Array, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE as they should be."""
    group = q.shape[1] // k.shape[1]
    keys, values = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scores = q @ keys.swapaxes(-1, -2) * np.float32(scale)
    if causal:
        hidden = ~np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)
        scores[..., hidden] = -np.inf
    peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (peak + np.log(total))[..., 0]
    return weights @ values / np.where(total == 0, 1, total), lse


def _pad_behind(array: Array) -> None:
    """Zero what lies behind the end of `array` in the allocation that it is part of, up to 64 rows."""
    base = array.base
    if not isinstance(base, np.ndarray) or not base.flags.c_contiguous or not array.flags.c_contiguous:
        return
    flat = base.reshape(-1).view(array.dtype)
    end = (array.ctypes.data - base.ctypes.data) // array.itemsize + array.size
    flat[end : end + (-array.shape[2] % 64) * array.shape[3]] = 0


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE, with a tail of zeros behind K that was not asked for."""
    _pad_behind(k)
    return _attend(q, k, v, causal, scale)
