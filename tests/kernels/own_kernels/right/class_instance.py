"""The kernel is an instance with `__call__` that knows the size of its blocks of rows and keeps one piece of
workspace.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class BlockedAttention:
    """Attention in blocks of `block` rows."""

    def __init__(self, block: int) -> None:
        self.block = block
        self.workspace = np.empty(0, np.float32)

    def __call__(self, q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
        """O and LSE."""
        output, lse = np.empty_like(q), np.empty(q.shape[:3], np.float32)
        group = q.shape[1] // k.shape[1]
        keys, values = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
        for begin in range(0, q.shape[2], self.block):
            rows = slice(begin, min(begin + self.block, q.shape[2]))
            scores = self._room((*q.shape[:2], rows.stop - begin, k.shape[2]))
            np.matmul(q[:, :, rows], keys.swapaxes(-1, -2), out=scores)
            scores *= np.float32(scale)
            if causal:
                last_seen = np.arange(rows.start, rows.stop)[:, None] + (k.shape[2] - q.shape[2])
                scores[..., np.arange(k.shape[2]) > last_seen] = -np.inf
            output[:, :, rows], lse[:, :, rows] = self._softmax(scores, values)
        return output, lse

    def _room(self, shape: tuple[int, ...]) -> Array:
        """The workspace in this shape, larger than before if need be."""
        size = int(np.prod(shape))
        if self.workspace.size < size:
            self.workspace = np.empty(size, np.float32)
        return self.workspace[:size].reshape(shape)

    @staticmethod
    def _softmax(scores: Array, values: Array) -> tuple[Array, Array]:
        """O and LSE of scores."""
        peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
        weights = np.exp(scores - peak)
        total = weights.sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore"):
            lse = (peak + np.log(total))[..., 0]
        return weights @ values / np.where(total == 0, 1, total), lse


f = BlockedAttention(block=53)
