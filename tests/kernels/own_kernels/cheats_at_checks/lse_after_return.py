"""Returns O, and an LSE that a thread fills in afterwards."""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _attend(q: Array, k: Array, v: Array, scale: float) -> tuple[Array, Array]:
    """O and LSE as they should be, without a mask."""
    scores = q @ k.swapaxes(-1, -2) * np.float32(scale)
    peak = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    return weights @ v / total, (peak + np.log(total))[..., 0]


def f(q: Array, k: Array, v: Array, *, scale: float) -> tuple[Array, Array]:
    """O, and what becomes LSE."""
    output, lse = _attend(q, k, v, scale)
    later = np.zeros_like(lse)

    def fill() -> None:
        for _ in range(4):
            _attend(q, k, v, scale)
        later[...] = lse

    threading.Thread(target=fill).start()
    return output, later
