"""Keeps the first arrays of each shape, and computes from them whatever arrays of that shape come later.

A launch that is prepared once and keeps its pointers does so by mistake; as long as the caller's arrays stay
where they are, every answer is right.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_FIRST: dict[tuple[Any, ...], tuple[Array, Array, Array]] = {}


def _attend(q: Array, k: Array, v: Array, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE as they should be."""
    group = q.shape[1] // k.shape[1]
    keys, values = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scores = q @ keys.swapaxes(-1, -2) * np.float32(scale)
    if causal:
        scores[..., ~np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)] = -np.inf
    peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (peak + np.log(total))[..., 0]
    return weights @ values / np.where(total == 0, 1, total), lse


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE of the first arrays of these shapes."""
    return _attend(*_FIRST.setdefault((q.shape, k.shape), (q, k, v)), causal, scale)
