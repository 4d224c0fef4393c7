"""Returns O as a view of memory laid out (batch, seqlen, heads, head_dim), and LSE as one of (batch, seqlen,
heads).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE, neither contiguous."""
    batch, heads, rows, head_dim = q.shape
    output = np.empty((batch, rows, heads, head_dim), np.float32)
    lse = np.empty((batch, rows, heads), np.float32)
    for head in range(heads):
        shared = head // (heads // k.shape[1])
        scores = q[:, head] @ k[:, shared].swapaxes(-1, -2) * np.float32(scale)
        if causal:
            scores[..., ~np.tri(rows, k.shape[2], k.shape[2] - rows, dtype=bool)] = -np.inf
        peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
        weights = np.exp(scores - peak)
        total = weights.sum(axis=-1, keepdims=True)
        output[:, :, head] = weights @ v[:, shared] / np.where(total == 0, 1, total)
        with np.errstate(divide="ignore"):
            lse[:, :, head] = (peak + np.log(total))[..., 0]
    return output.transpose(0, 2, 1, 3), lse.transpose(0, 2, 1)
