"""What a call of `flashscope.kernels.attention` has to answer, by definition.

It shares nothing with the program but NumPy: it reads the arguments for itself, strictly, and takes every row
of scores in float64.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from flashscope.kernels import BlockMask
from tests.kernels.asked import OFFSETS, Call

NUMBERS = (int, float, Fraction, np.integer, np.floating)


class UnclearError(Exception):
    """The arguments do not say what is to be computed."""


def answer(call: Call) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """O (batch, heads, seqlen, head_dim), whatever the layout, and LSE by definition, in float64.

    Raises:
        UnclearError: An argument is none that can be meant.
    """
    layout = call.get("layout", "bhnd")
    _must(isinstance(layout, str) and layout in {"bhnd", "bnhd"})
    q, k, v = (
        _array(call[name]) if layout == "bhnd" else _array(call[name]).swapaxes(1, 2) for name in "qkv"
    )
    _must(all(call.get(name) is None for name in OFFSETS))
    _flag(call.get("copy", False))
    table = call.get("page_table")
    if table is not None:
        _must(type(table) is np.ndarray and table.dtype == np.dtype(np.int32) and table.dtype.isnative)
        _must(table.ndim == 2 and len(table) == len(q))
    keys = k.shape[2] * (1 if table is None else table.shape[1])
    _must(k.shape == v.shape and k.shape[3] == q.shape[3] and q.shape[1] % k.shape[1] == 0)
    _must(table is not None or len(k) == len(q))
    rows_of = _lengths(call.get("query_lengths"), len(q), q.shape[2])
    keys_of = _lengths(call.get("key_lengths"), len(q), keys)
    output, lse = np.zeros(q.shape), np.full(q.shape[:3], -np.inf)
    causal, scale = _flag(call["causal"]), _scale(call.get("scale"), q.shape[3])
    _flag(call["return_lse"])
    for b, (rows, count) in enumerate(zip(rows_of, keys_of, strict=True)):
        own_k, own_v = (_gathered(x, table, b, count) for x in (k, v))
        kept = _kept(rows, count, causal, _window(call.get("window")))
        kept &= _blocks(call.get("block_mask"), q.shape[2], keys)[:rows, :count]
        for h in range(q.shape[1]):
            of = h // (q.shape[1] // k.shape[1])
            for r in range(rows):
                own = own_k[of][kept[r]], own_v[of][kept[r]]
                if kept[r].any():
                    output[b, h, r], lse[b, h, r] = _row(q[b, h, r] * scale, *own)
    return output, lse


def _row(q: Any, k: Any, v: Any) -> tuple[Any, float]:
    """O and LSE of a row of Q, scaled, over the keys that it keeps."""
    s = k @ q
    weights = np.exp(s - s.max())
    return (weights[:, None] * v).sum(axis=0) / weights.sum(), s.max() + math.log(weights.sum())


def _must(said: bool) -> None:
    if not said:
        raise UnclearError


def _array(array: Any) -> npt.NDArray[np.float64]:
    _must(type(array) is np.ndarray and array.dtype == np.dtype("=f4") and array.ndim == 4)
    _must(array.size > 0)
    found: npt.NDArray[np.float64] = array.astype(np.float64)
    return found


def _lengths(lengths: Any, batch: int, most: int) -> list[int]:
    if lengths is None:
        return [most] * batch
    _must(not isinstance(lengths, str | bytes | set | dict) and hasattr(lengths, "__getitem__"))
    found = list(lengths)
    _must(len(found) == batch and all(isinstance(one, int | np.integer) for one in found))
    _must(not any(isinstance(one, bool) for one in found) and all(0 <= one <= most for one in found))
    return [int(one) for one in found]


def _flag(value: Any) -> bool:
    _must(
        isinstance(value, bool | np.bool_)
        or (type(value) is np.ndarray and value.shape == () and value.dtype == bool)
    )
    return bool(value)


def _scale(scale: Any, width: int) -> float:
    if scale is None:
        return 1 / math.sqrt(width)
    if type(scale) is np.ndarray and scale.shape == ():
        scale = scale[()]
    _must(isinstance(scale, NUMBERS) and not isinstance(scale, bool))
    _must(abs(scale) <= 3.4e38)
    return float(scale)


def _window(window: Any) -> tuple[int, int]:
    if window is None:
        return -1, -1
    left, right = _lengths(window, 2, 1 << 999) if -1 not in [*window] else [int(one) for one in window]
    return left, right


def _kept(rows: int, keys: int, causal: bool, window: tuple[int, int]) -> Any:
    away = np.arange(keys)[None, :] - np.arange(rows)[:, None] - (keys - rows)
    left, right = window[0], 0 if causal else window[1]
    kept = np.ones((rows, keys), bool)
    if left >= 0:
        kept &= away >= -min(left, 1 << 40)
    return kept & (away <= min(right, 1 << 40)) if right >= 0 else kept


def _blocks(mask: Any, rows: int, keys: int) -> Any:
    if mask is None:
        return np.ones((rows, keys), bool)
    _must(isinstance(mask, BlockMask))
    blocks = np.frombuffer(mask.kept, bool).reshape(mask.shape)
    _must(mask.shape == (-(-rows // mask.block_q), -(-keys // mask.block_k)))
    return blocks[np.arange(rows)[:, None] // mask.block_q, np.arange(keys)[None, :] // mask.block_k]


def _gathered(x: Any, table: Any, b: int, count: int) -> Any:
    """K or V of a sequence, (heads, keys, width), from its pages where there are some."""
    if table is None:
        return x[b, :, :count]
    size = x.shape[2]
    found = [int(page) for page in table[b][: -(-count // size)]]
    _must(all(0 <= page < len(x) for page in found))
    stretches = [x[page] for page in found] or [x[0]]
    return np.concatenate(stretches, axis=1)[:, :count]
