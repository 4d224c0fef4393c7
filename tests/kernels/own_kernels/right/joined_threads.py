"""Gives the heads to a pool of two threads and returns when all are through and the pool is gone."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    output, lse = np.empty_like(q), np.empty(q.shape[:3], np.float32)
    group = q.shape[1] // k.shape[1]

    def attend(place: tuple[int, int]) -> None:
        batch, head = place
        scores = q[place] @ k[batch, head // group].T * np.float32(scale)
        if causal:
            scores[~np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)] = -np.inf
        peak = np.maximum(scores.max(axis=1, keepdims=True), np.finfo(np.float32).min)
        weights = np.exp(scores - peak)
        total = weights.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            lse[place] = (peak + np.log(total))[:, 0]
        output[place] = weights @ v[batch, head // group] / np.where(total == 0, 1, total)

    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(attend, product(range(q.shape[0]), range(q.shape[1]))))
    return output, lse
