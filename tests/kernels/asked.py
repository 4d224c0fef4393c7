"""Calls of `flashscope.kernels.attention` drawn by a seed, right and hostile; and an answer by definition.

The answer shares nothing with the program but NumPy: it reads the arguments for itself, strictly, and takes
every row of scores in float64.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from flashscope.kernels import BlockMask

Dice = random.Random
Call = dict[str, Any]
KERNELS = ("standard", "fused", "flash1", "flash2", "auto")
LENGTHS = (1, 2, 3, 15, 16, 17, 40, 64, 90, 130)
HEAD_DIMS = (16, 24, 32, 64)
OFFSETS = ("cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k")
MOST = 99  # sequences of a batch that is changed again
NUMBERS = (int, float, Fraction, np.integer, np.floating)


class UnclearError(Exception):
    """The arguments do not say what is to be computed."""


def right_call(seed: int) -> Call:
    """Arguments that are accepted: every mask, fewer K/V heads, lengths, pages, NaN where none may read."""
    dice, draw = Dice(seed), np.random.default_rng(seed)
    batch, kv_heads, group = dice.choice((1, 1, 2, 3)), dice.choice((1, 2)), dice.choice((1, 1, 2, 3))
    rows, keys, width = dice.choice(LENGTHS), dice.choice(LENGTHS), dice.choice(HEAD_DIMS)
    kind = dice.choice(("plain", "plain", "blocks", "lengths", "pages"))
    call: Call = {
        "kernel": dice.choice(KERNELS),
        "causal": dice.random() < 0.5,
        "return_lse": dice.random() < 0.5,
    }
    if kind == "pages":
        size = dice.choice((16, 32))
        stretches = -(-keys // size)
        keys = stretches * size
        pages = batch * stretches + 2
        call["page_table"] = draw.permutation(pages)[: batch * stretches].reshape(batch, -1).astype(np.int32)
        kv_shape: tuple[int, ...] = (pages, kv_heads, size, width)
    else:
        kv_shape = (batch, kv_heads, keys, width)
    if kind in {"lengths", "pages"}:
        call["key_lengths"] = [dice.randint(0, keys) for _ in range(batch)]
        call["query_lengths"] = tuple(dice.randint(0, rows) for _ in range(batch))
    if kind == "blocks":
        block_q, block_k = dice.choice((1, 7, 16)), dice.choice((3, 16, 64))
        call["block_mask"] = BlockMask.random(
            rows, keys, block_q=block_q, block_k=block_k, kept_share=dice.random(), seed=seed
        )
    if dice.random() < 0.3:
        call["layout"] = dice.choice(("bhnd", "bnhd"))
    call["q"] = draw.standard_normal((batch, kv_heads * group, rows, width), dtype=np.float32)
    call["k"], call["v"] = (draw.standard_normal(kv_shape, dtype=np.float32) for _ in "kv")
    if dice.random() < 0.5:
        call["window"] = (dice.randint(-1, 70), dice.randint(-1, 70))
    if dice.random() < 0.5:
        call["scale"] = dice.choice((0.0, 0.3, -0.2, 1, Fraction(1, 8), np.float32(0.5), np.int64(1)))
    if dice.random() < 0.2:
        call["v"][..., dice.randrange(kv_shape[2]), :] = dice.choice((np.nan, np.inf, -np.inf))
    if call.get("layout") == "bnhd":
        call |= {name: _laid(call[name], dice) for name in "qkv"}
    return call


def _laid(array: Any, dice: Dice) -> Any:
    """The array as (batch, seqlen, heads, head_dim), packed, in strides or as a slice of a larger one."""
    view = array.swapaxes(1, 2)
    whole = np.full((*view.shape[:2], 3, *view.shape[2:]), np.nan, np.float32)
    whole[:, :, 1] = view
    return dice.choice((view, np.ascontiguousarray(view), whole[:, :, 1], np.asfortranarray(view)))


def hostile_call(seed: int) -> Call:
    """The same with one to three arguments in place of which something else is given."""
    call, dice = right_call(seed), Dice(-seed - 1)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        name = dice.choice([*call, *OTHERS])
        call[name] = _spoilt(call[name], dice) if name in {"q", "k", "v"} else dice.choice(OTHERS[name])
    return call


def _spoilt(array: Any, dice: Dice) -> Any:
    """Another array, or none; what cannot be changed a second time stays as it is."""
    changeable = isinstance(array, np.ndarray) and array.ndim > 1 and array.size > 0 and len(array) < MOST
    return dice.choice(OF_ARRAYS)(array, dice) if changeable else array


def _without_an_axis(array: Any, dice: Dice) -> Any:
    return array[0] if dice.random() < 0.5 else array[None]


def _cut(array: Any, dice: Dice) -> Any:
    """Shorter along an axis, at times to nothing, and contiguous again."""
    axis = dice.randrange(array.ndim)
    return np.ascontiguousarray(np.take(array, range(dice.randint(0, array.shape[axis])), axis))


def _longer(array: Any, dice: Dice) -> Any:
    return np.concatenate([array, array], axis=dice.randrange(array.ndim))


def _in_strides(array: Any, dice: Dice) -> Any:
    return dice.choice((array[::-1], array.swapaxes(1, 2), array[..., ::2], np.asfortranarray(array)))


def _in_another_dtype(array: Any, dice: Dice) -> Any:
    names = ("float64", "float16", "int32", "bool", "object", "complex64", ">f4", "U4", "V4", "int8")
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(array, posinf=1, neginf=1).astype(dice.choice(names))


def _no_array(array: Any, dice: Dice) -> Any:
    forms: Sequence[Callable[[], Any]] = (
        array.tolist,
        lambda: memoryview(array),
        lambda: np.ma.masked_array(array),
        lambda: array.view(np.recarray),
        Hostile,
        lambda: None,
        lambda: "q",
        lambda: 0,
        lambda: np.float32(1),
        lambda: np.array(1.0, np.float32),
    )
    return dice.choice(forms)()


def _broadcast(array: Any, dice: Dice) -> Any:
    return np.broadcast_to(array[:1], (dice.choice((2, 1 << 30)), *array.shape[1:]))


def _filled(array: Any, dice: Dice) -> Any:
    return np.full_like(array, dice.choice((np.nan, np.inf, 3e38, 1e-45, 0)))


def _read_only(array: Any, _dice: Dice) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


OF_ARRAYS: Sequence[Callable[[Any, Dice], Any]] = (
    *(_without_an_axis, _cut, _longer, _in_strides, _in_another_dtype, _no_array),
    *(_broadcast, _filled, _read_only),
)


class Hostile:
    """Raises whatever it is asked."""

    def __bool__(self) -> bool:
        raise RuntimeError("asked whether it is true")

    def __index__(self) -> int:
        raise TypeError("asked for an index")

    def __len__(self) -> int:
        raise TypeError("asked for a length")

    def __repr__(self) -> str:
        return "<\x1b[2J\nhostile>" * 50


ODD: Sequence[Any] = (
    "",
    "no",
    "1",
    b"1",
    [],
    {},
    (),
    object(),
    Hostile(),
    None,
    np.nan,
    1j,
    slice(1),
    type,
    print,
)
OTHERS: Mapping[str, Sequence[Any]] = {
    "kernel": (
        *ODD,
        "flash9",
        "Flash2",
        " flash2",
        "flash3",
        "torch-flash",
        "flash3-fp8",
        "x" * 9999,
        2,
        ["flash2"],
    ),
    "causal": (*ODD, 0, 1, 2, 0.0, np.True_, np.array(True), np.array([True]), np.array([1, 0]), np.int8(1)),
    "return_lse": (*ODD, 0, 1, "yes", np.False_, np.array([False])),
    "scale": (
        *(*ODD, "0.3", True, np.True_, np.inf, -np.inf, 1e39, -1e300, 10**400, -(10**400), 1e-400, -0.0),
        *(np.array(0.5), np.array([0.5]), np.complex64(1), np.float64(1e308), Fraction(1, 3), [0.3], {0.3}),
    ),
    "window": (
        *(
            *ODD,
            (1,),
            (1, 2, 3),
            (True, False),
            (1.0, 2.0),
            ("1", "2"),
            (-2, 0),
            (0, -5),
            5,
            {3, 4},
            "12",
            b"12",
        ),
        *(
            [3, 4],
            np.array([3, 4]),
            np.array([[3, 4]]),
            np.array([1.0, 2.0]),
            (10**30, 0),
            (None, None),
            range(2),
        ),
        *(
            (np.int8(3), 2),
            (np.True_, 1),
            iter((1, 2)),
            ((1,), (2,)),
            (2**63, 2**64),
            np.array([True, False]),
        ),
    ),
    "block_mask": (
        *(
            *ODD,
            np.ones((1, 1), bool),
            [[True]],
            True,
            BlockMask.of([[True]], 1, 1),
            BlockMask.of([[True]], 999, 999),
        ),
        *(BlockMask.of([[False]], 999, 999), BlockMask.of([[True] * 3] * 3, 16, 16)),
    ),
    "key_lengths": (
        *(
            *ODD,
            [1],
            [1, 1],
            [1, 1, 1],
            [-1],
            [0],
            [0, 0],
            [10**30],
            [1.0],
            ["1"],
            [None],
            [True],
            5,
            "1",
            b"1",
        ),
        *(np.array([1]), np.array([1, 2]), np.array([[1]]), np.array([1.0]), {1}, {1: 2}, range(1), range(2)),
        *(iter([1]), [[1]], [np.int16(1)], [1] * 10_000, np.array(1)),
    ),
    "page_table": (
        *(*ODD, np.zeros((1, 1), np.int32), np.zeros((2, 1), np.int32), np.zeros((1, 1), np.int64), [[0]], 0),
        *(np.full((1, 2), -1, np.int32), np.full((1, 1), 2**31 - 1, np.int32), np.zeros((1, 0), np.int32)),
        *(
            np.zeros((1, 1), ">i4"),
            np.zeros(1, np.int32),
            np.zeros((1, 4), np.int32)[:, ::2],
            np.ones((1, 3), bool),
        ),
    ),
}
OTHERS = {
    **OTHERS,
    "query_lengths": OTHERS["key_lengths"],
    "layout": (
        *ODD,
        "bhnd",
        "bnhd",
        "thd",
        "BHND",
        "hnd",
        b"bnhd",
        ["bnhd"],
        np.array("bnhd"),
        np.str_("bnhd"),
    ),
    "copy": (*ODD, True, 0, np.True_, np.array(False)),
    "cu_seqlens_q": (*ODD, np.array([0, 1], np.int32), [0, 1]),
    "max_seqlen_k": (*ODD, 1, True, -1, 10**30),
}


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
