"""Calls of `flashscope.kernels.attention` drawn by a seed, right and hostile."""

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from flashscope.kernels import BlockMask

Dice = random.Random
Call = dict[str, Any]
KERNELS = ("standard", "fused", "flash1", "flash2", "auto")
LENGTHS = (1, 2, 3, 15, 16, 17, 40, 64, 90, 130)
HEAD_DIMS = (16, 24, 32, 64)
OFFSETS = ("cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k")
MOST = 99  # sequences of a batch that is changed again


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
