"""Three splits of the keys, each attended to on its own, merged by their log-sum-exps."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_SPLITS = 3


def _part(q: Array, k: Array, v: Array, scale: float, hidden: Array) -> tuple[Array, Array]:
    """O and LSE over some of the keys."""
    scores = np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) * np.float32(scale)).astype(np.float32)
    peak = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = peak + np.log(total)
    return weights @ v / np.where(total == 0, 1, total), lse


def f(q: Array, k: Array, v: Array, *, causal: bool, scale: float) -> tuple[Array, Array]:
    """O and LSE."""
    group = q.shape[1] // k.shape[1]
    keys, values = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    rows, columns = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])
    hidden = (columns > rows + (k.shape[2] - q.shape[2])) & causal
    cuts = np.linspace(0, k.shape[2], _SPLITS + 1).astype(int)
    parts = [
        _part(q, keys[:, :, begin:end], values[:, :, begin:end], scale, hidden[:, begin:end])
        for begin, end in pairwise(cuts)
        if end > begin
    ]
    lse = np.logaddexp.reduce([part[1] for part in parts])
    output = np.zeros_like(q)
    for one, its in parts:
        output += np.exp(its - np.where(np.isneginf(lse), 0, lse)) * one
    return output, lse[..., 0]
