"""Traces as a file could hold them: valid ones with some of their parts changed."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from flashscope.kernels.workload.trace import Array, Trace
from tests.app.stepper.builders import random_trace, slide_trace

ARRAYS = (
    *("tile", "s", "m", "l", "alpha", "o", "q", "k", "v"),
    *("output", "lse", "exact_output", "exact_lse"),
)
NUMBERS = (0, 1, -1, 2, 7, 1000, 100_000, 1 << 31, 1 << 62, -(1 << 62))
VALUES = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e38, 1e-45)


def with_array(trace: Trace, name: str, change: Callable[[Any], Any]) -> Trace:
    changed = Array.of(change(getattr(trace, name).numpy()))
    return msgspec.structs.replace(trace, **{name: changed})


def with_request(trace: Trace, **fields: Any) -> Trace:
    return msgspec.structs.replace(trace, request=msgspec.structs.replace(trace.request, **fields))


def with_problem(trace: Trace, **fields: Any) -> Trace:
    return with_request(trace, problem=msgspec.structs.replace(trace.request.problem, **fields))


KNOWN: Mapping[str, Callable[[Trace], Trace]] = {
    "flat scores": lambda trace: with_array(trace, "s", np.ravel),
    "no scores": lambda trace: with_array(trace, "s", lambda s: s[:0]),
    "an output without width": lambda trace: with_array(trace, "o", lambda o: o[..., :0]),
    "values wider than the output": lambda trace: with_array(trace, "v", lambda v: np.tile(v, 3)),
    "a long problem over a small trace": lambda trace: with_problem(
        trace, seqlen_q=100_000, seqlen_k=100_000
    ),
    "blocks of 0": lambda trace: with_request(trace, block_q=0),
    "blocks below 0": lambda trace: with_request(trace, block_k=-4),
    "tiles beyond the last": lambda trace: with_array(trace, "tile", lambda tile: tile + 1000),
    "tiles before the first": lambda trace: with_array(trace, "tile", lambda tile: tile - 1),
    "one tile twice": lambda trace: with_array(trace, "tile", lambda tile: tile * 0),
    "tiles that are not whole": lambda trace: with_array(trace, "tile", lambda tile: tile + 0.5),
    "countless tiles": lambda trace: with_request(
        with_problem(trace, seqlen_q=1 << 29, seqlen_k=1 << 29), block_q=1, block_k=1
    ),
    "no such head": lambda trace: with_request(trace, head=1),
    "parts that nothing merges": lambda trace: with_request(trace, splits=2),
    "heads that share no tiles": lambda trace: with_request(trace, packed=3),
    "bytes missing": lambda trace: msgspec.structs.replace(
        trace, q=msgspec.structs.replace(trace.q, data=trace.q.data[:-1])
    ),
    "an array of objects": lambda trace: msgspec.structs.replace(
        trace, q=msgspec.structs.replace(trace.q, dtype="|O")
    ),
    "a shape below 0": lambda trace: msgspec.structs.replace(
        trace, q=msgspec.structs.replace(trace.q, shape=(-1, -1))
    ),
}


def drawn(seed: int) -> Trace:
    """A valid trace with one to three changes, the same for the same seed."""
    dice = random.Random(seed)  # noqa: S311 - a test's own
    trace = dice.choice(
        [
            slide_trace(order=dice.choice(["flash1", "flash2"])),
            random_trace(
                dice.choice([1, 7, 16]), block=dice.choice([1, 4, 5]), head_dim=2, causal=dice.random() < 0.5
            ),
        ]
    )
    for _ in range(dice.randint(1, 3)):
        trace = dice.choice(CHANGES)(trace, dice)
    return trace


def _another_shape(trace: Trace, dice: random.Random) -> Trace:
    name = dice.choice(ARRAYS)
    changes = (
        np.ravel,
        lambda a: a[:0],
        lambda a: a[..., :0],
        lambda a: a[None],
        lambda a: np.repeat(a, 2, 0),
    )
    return with_array(trace, name, dice.choice(changes))


def _another_value(trace: Trace, dice: random.Random) -> Trace:
    name, value, share = dice.choice(ARRAYS[1:]), dice.choice(VALUES), dice.choice([0.01, 0.3, 1.0])
    hit = np.random.default_rng(dice.randrange(1 << 30))
    return with_array(trace, name, lambda a: np.where(hit.random(a.shape) < share, a.dtype.type(value), a))


def _another_dtype(trace: Trace, dice: random.Random) -> Trace:
    dtype = dice.choice(["<f8", "<f4", "<i4", "<i8", "<f2", "<U1", ">f4"])
    with np.errstate(all="ignore"):
        return with_array(trace, dice.choice(ARRAYS), lambda a: np.nan_to_num(a).astype(dtype))


def _another_tile(trace: Trace, dice: random.Random) -> Trace:
    value = max(-(1 << 31), min(dice.choice(NUMBERS), (1 << 31) - 1))
    return with_array(
        trace, "tile", lambda tile: np.where(tile == tile.max(initial=0), value, tile).astype(np.int32)
    )


def _another_block(trace: Trace, dice: random.Random) -> Trace:
    return with_request(trace, **{dice.choice(["block_q", "block_k"]): dice.choice(NUMBERS)})


def _another_problem(trace: Trace, dice: random.Random) -> Trace:
    try:
        return with_problem(
            trace, **{dice.choice(["seqlen_q", "seqlen_k", "head_dim", "batch"]): dice.choice(NUMBERS)}
        )
    except ValueError:  # no file with such a problem is decoded
        return trace


def _another_way(trace: Trace, dice: random.Random) -> Trace:
    return with_request(trace, order=dice.choice(["flash1", "flash2"]), reverse=dice.random() < 0.5)


CHANGES = (
    _another_shape,
    *(_another_value,) * 3,
    _another_dtype,
    _another_tile,
    _another_block,
    _another_problem,
    _another_way,
)
