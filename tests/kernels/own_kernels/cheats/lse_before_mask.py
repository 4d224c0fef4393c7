"""Returns O under the causal mask beside an LSE of the scores before the mask.

Whoever compares O alone, or LSE only without a mask, calls it right; a merge with other keys by this LSE is
wrong.
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
    """O as asked, LSE as if nothing were hidden."""
    return _attend(q, k, v, causal, scale)[0], _attend(q, k, v, False, scale)[1]
