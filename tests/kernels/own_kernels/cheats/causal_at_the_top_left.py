"""Aligns the causal mask to the top left: row q keeps the keys k <= q, whatever Nk - Nq.

It is an honest mistake, and right without a mask and for every problem with as many rows as keys.
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


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE, with the diagonal begun at the first key."""
    shared = min(q.shape[2], k.shape[2])
    if not causal or q.shape[2] == k.shape[2]:
        return _attend(q, k, v, causal, scale)
    output, lse = _attend(q, k, v, False, scale)
    output[:, :, :shared], lse[:, :, :shared] = _attend(
        q[:, :, :shared], k[:, :, :shared], v[:, :, :shared], True, scale
    )
    return output, lse
