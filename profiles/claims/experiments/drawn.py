"""Inputs that experiments share, and attention by its definition in float64."""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
EXACT = 1e-12  # of errors in float64: rounding alone


def qkv(seqlen: int, head_dim: int, seed: int = 0) -> tuple[Doubles, Doubles, Doubles]:
    """Standard-normal Q, K and V of one head."""
    q, k, v = np.random.default_rng(seed).standard_normal((3, seqlen, head_dim))
    return q, k, v


def softmax_by_definition(x: Doubles) -> Doubles:
    """Over the last axis, by its definition."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    weights: Doubles = e / e.sum(axis=-1, keepdims=True)
    return weights


def attention_by_definition(q: Doubles, k: Doubles, v: Doubles, scale: float | None = None) -> Doubles:
    """softmax(scale Q Kᵀ) V, with 1/√d unless a scale is given."""
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    output: Doubles = softmax_by_definition(q @ np.swapaxes(k, -1, -2) * factor) @ v
    return output


def error(found: Doubles, exact: Doubles) -> float:
    """The largest difference."""
    return float(np.abs(found - exact).max())
