"""Scales K in place, which saves it a copy of K, and scales it back when the caller lets go of O.

O and LSE are right and a look at the inputs after O is gone finds nothing; until then K is not the caller's
K, and what comes back is off by roundings wherever the scale is no power of two.
"""

import weakref
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


def _put_back(k: Array, scale: float) -> None:
    """Undo the scaling, up to its roundings."""
    k /= np.float32(scale)


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE of keys scaled in place."""
    k *= np.float32(scale)
    output, lse = _attend(q, k, v, causal, 1.0)
    weakref.finalize(output, _put_back, k, scale)
    return output, lse
