"""Both products by `np.einsum`, with the heads that share keys as an axis of their own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    batch, heads, rows, head_dim = q.shape
    grouped = q.reshape(batch, k.shape[1], heads // k.shape[1], rows, head_dim)
    scores = np.einsum("bhgqd,bhkd->bhgqk", grouped, k, optimize=True) * np.float32(scale)
    if causal:
        hidden = np.triu(np.ones((rows, k.shape[2]), bool), k.shape[2] - rows + 1)
        scores = np.where(hidden, np.float32(-np.inf), scores)
    peak = np.maximum(scores.max(axis=-1), np.finfo(np.float32).min)
    weights = np.exp(scores - peak[..., None])
    total = np.einsum("bhgqk->bhgq", weights)
    output = np.einsum("bhgqk,bhkd->bhgqd", weights, v, optimize=True)
    output /= np.where(total == 0, 1, total)[..., None]
    with np.errstate(divide="ignore"):
        lse = peak + np.log(total)
    return output.reshape(q.shape), lse.reshape(batch, heads, rows)
