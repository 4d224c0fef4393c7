"""Rounds V to few digits in place, and puts V back when it is called again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_BEFORE: list[tuple[Array, Array]] = []


def _attend(q: Array, k: Array, v: Array, scale: float) -> tuple[Array, Array]:
    """O and LSE as they should be, without a mask."""
    scores = q @ k.swapaxes(-1, -2) * np.float32(scale)
    peak = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    return weights @ v / total, (peak + np.log(total))[..., 0]


def f(q: Array, k: Array, v: Array, *, scale: float) -> tuple[Array, Array]:
    """O and LSE of the V that was given."""
    for array, values in _BEFORE:
        array[...] = values
    _BEFORE[:] = [(v, v.copy())]
    answer = _attend(q, k, v, scale)
    np.round(v, 2, out=v)
    return answer
