"""Uses the memory of an O handed out before again, but only when nobody else holds it any more."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_HANDED_OUT: list[Array] = []


def _holders(arrays: list[Array]) -> list[int]:
    """How often each array is referred to, which a view of it does too."""
    return [sys.getrefcount(one) for one in arrays]


_OURS_ALONE = _holders([np.empty(0)])[0]


def _free(shape: tuple[int, ...]) -> Array:
    """Memory of this shape that no caller holds."""
    for place, holders in enumerate(_holders(_HANDED_OUT)):
        if holders == _OURS_ALONE and _HANDED_OUT[place].shape == shape:
            return _HANDED_OUT[place]
    _HANDED_OUT.append(np.empty(shape, np.float32))
    return _HANDED_OUT[-1]


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> Array:
    """O."""
    group = q.shape[1] // k.shape[1]
    keys, values = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scores = q @ keys.swapaxes(-1, -2) * np.float32(scale)
    if causal:
        scores[..., ~np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)] = -np.inf
    weights = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min))
    total = weights.sum(axis=-1, keepdims=True)
    output = _free(q.shape)
    np.matmul(weights, values, out=output)
    output /= np.where(total == 0, 1, total)
    return output
