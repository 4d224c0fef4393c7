"""A trace of a timed kernel beside a replay of the same loop in float64, and problems to trace."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.on_show import padding
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.trace import Trace, TraceRequest

ROUNDING = {"float16": 2**-10, "bfloat16": 2**-7}  # twice half a unit
FP8_ROUNDING = 2**-4  # half a unit of e4m3
SMALLEST = 2**-15  # of P in 8 bits, half a unit
ALONE: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 150, "seqlen_k": 133},
    "causal": {"seqlen_q": 150, "seqlen_k": 200, "causal": True},
    "more rows": {"seqlen_q": 150, "seqlen_k": 70, "causal": True},
    "window": {"seqlen_q": 340, "seqlen_k": 400, "window": (50, 20)},
    "negative": {"seqlen_q": 40, "seqlen_k": 90, "scale": -0.5},
    "rising": {"seqlen_q": 40, "seqlen_k": 300, "scale": 3.0},
}
AMONG_OTHERS: dict[str, dict[str, Any]] = {
    "grouped": {"seqlen_q": 70, "seqlen_k": 133, "heads": 4, "kv_heads": 2, "causal": True},
    "parts": {"seqlen_q": 40, "seqlen_k": 700, "heads": 2, "batch": 2},
    "causal parts": {"seqlen_q": 150, "seqlen_k": 700, "heads": 2, "causal": True},
    "window parts": {"seqlen_q": 70, "seqlen_k": 900, "heads": 2, "window": (700, 10)},
    "one row": {"seqlen_q": 1, "seqlen_k": 1024, "heads": 8, "kv_heads": 2, "batch": 2},
    "packed": {"seqlen_q": 20, "seqlen_k": 250, "heads": 12, "kv_heads": 2},
    "packed parts": {"seqlen_q": 4, "seqlen_k": 900, "heads": 8, "kv_heads": 2, "causal": True},
    "ragged": {"seqlen_q": 96, "seqlen_k": 256, "batch": 3, "heads": 2, "causal": True}
    | {"query_lengths": (96, 70, 0), "key_lengths": (256, 190, 40)},
    "pages": {"seqlen_q": 70, "seqlen_k": 256, "batch": 2, "heads": 2, "page_size": 16}
    | {"key_lengths": (200, 133)},
    "packed pages": {"seqlen_q": 3, "seqlen_k": 768, "batch": 2, "heads": 4, "kv_heads": 1, "page_size": 64}
    | {"query_lengths": (3, 2), "key_lengths": (500, 701), "causal": True},
}
MASK = BlockMask.of([[True, False, True], [False, True, True], [True, False, False]], 256, 128)
BLOCKS: dict[str, dict[str, Any]] = {
    "blocks": {"seqlen_q": 700, "seqlen_k": 300, "block_mask": MASK},
    "causal blocks": {"seqlen_q": 700, "seqlen_k": 300, "causal": True, "heads": 2, "block_mask": MASK},
}
SHAPES = ALONE | AMONG_OTHERS | BLOCKS
HEADS = {"grouped": 2, "parts": 2, "one row": 13, "packed": 8, "ragged": 3, "pages": 2, "packed pages": 5}
"""Which head is on show where it is not the first."""


class Row(NamedTuple):
    """The state of rows, in float64; `size` is O with |V|, of which P's rounding takes its share."""

    m: Any
    l: Any
    o: Any
    size: Any
    alpha: Any = None


class Step(NamedTuple):
    """A tile in float64: its place, its rows, its keys, its scores, and the state after it."""

    place: tuple[int, int]
    rows: slice
    keys: slice
    scores: Any
    state: Row


def check_trace(trace: Trace) -> None:
    """Hold every snapshot, every addition of a merge and the answer against float64.

    Raises:
        AssertionError: One is off by more than the rounding of P and of the inputs' products allows.
    """
    asked, there = trace.request, ~padding(trace.request)
    places = [(i, j) for i, j in trace.tile.numpy().tolist()]
    parts: list[Row] = []
    ran = []
    for step in replayed(trace, parts):
        t, real = places.index(step.place), there[step.rows]
        count, width = step.scores.shape
        ours = {name: getattr(trace, name).numpy()[t, :count][real] for name in ("s", "m", "l", "alpha", "o")}
        slack = 2e-3 + slack_of(trace)
        np.testing.assert_allclose(ours["s"][:, :width], step.scores[real], rtol=1e-3, atol=slack)
        assert np.isneginf(ours["s"][:, width:]).all()
        check_state(trace, ours, Row(*(array[real] for array in step.state)))
        empty = trace.m.numpy()[t, :count][~real], trace.l.numpy()[t, :count][~real]
        assert np.isneginf(empty[0]).all()
        assert not empty[1].any()
        ran.append(step.place)
    assert sorted(ran) == sorted(places)
    for i in range(asked.grid[0]):
        assert [place for place in ran if place[0] == i] == [place for place in places if place[0] == i]
    last = check_merge(trace, parts, there)
    sums = np.where(last.l > 0, last.l, 1)[:, None]
    allowed = (rounding_of(trace) + 2 * slack_of(trace)) * last.size / sums + 4 * ROUNDING[
        asked.problem.dtype
    ]
    assert (np.abs(trace.output.numpy() - last.o / sums) <= allowed)[there].all()
    with np.errstate(divide="ignore"):
        lse = last.m + np.log(last.l)
    np.testing.assert_allclose(trace.lse.numpy()[there], lse[there], rtol=1e-3, atol=2e-3 + slack_of(trace))
    if trace.twice is None:
        np.testing.assert_allclose(trace.exact_output.numpy()[there], (last.o / sums)[there], atol=1e-9)


def slack_of(trace: Trace) -> float:
    """By how much a score in 8 bits is off on the tensor cores, however small it is."""
    if trace.twice is None:
        return 0.0
    largest = [np.linalg.norm(array.numpy().astype(np.float64), axis=1).max() for array in (trace.q, trace.k)]
    problem = trace.request.problem
    return float(Rounding.score_error(problem.head_dim) * np.prod(largest) * abs(problem.softmax_scale))


def rounding_of(trace: Trace) -> float:
    """By how much P is off, relatively, when it meets V."""
    return ROUNDING[trace.request.problem.dtype] if trace.twice is None else FP8_ROUNDING


def replayed(trace: Trace, parts: list[Row]) -> Iterator[Step]:
    """The tiles of each query tile in the kernel's order; `parts` takes the rows after each part."""
    asked = trace.request
    q, k, v = (array.numpy().astype(np.float64) for array in (trace.q, trace.k, trace.v))
    if trace.twice is not None:
        q, k, v = in_8_bits(asked, q, k, v)
    scores = scores_of(asked, q, k)
    whole = [nothing(len(q), v.shape[1]) for _ in range(asked.splits)]
    for i in range(asked.grid[0]):
        rows = tracing.area(asked, i, 0)[0]
        for part, js in enumerate(parts_of(asked, i)):
            state = nothing(rows.stop - rows.start, v.shape[1])
            for j in js:
                keys = tracing.area(asked, i, j)[1]
                follows = None if trace.twice is None else raised(trace, (i, j), state, scores[rows, keys])
                state = absorbed(state, scores[rows, keys], v[keys], trace.headroom, follows)
                yield Step((i, j), rows, keys, scores[rows, keys], state)
            for all_rows, some in zip(whole[part][:4], state[:4], strict=True):
                all_rows[rows] = some
    parts += whole


def nothing(rows: int, width: int) -> Row:
    """The empty state."""
    o, size = np.zeros((2, rows, width))
    return Row(np.full(rows, -np.inf), np.zeros(rows), o, size)


def scores_of(asked: TraceRequest, q: Any, k: Any) -> Any:
    """Scaled and masked, in float64."""
    every = slice(0, len(q))
    kept = np.stack([asked.mask.keeping(key, every) for key in range(len(k))], axis=1)
    return np.where(kept, q @ k.T * asked.problem.softmax_scale, -np.inf)


def in_8_bits(asked: TraceRequest, *qkv: Any) -> tuple[Any, Any, Any]:
    """Q, K and V as flash3-fp8 multiplies them; products of Q and K are the scores without their scale."""
    rounding = Rounding(asked.block_k)
    q, k, v = (array[0, 0].astype(np.float64) for array in rounding.inputs(*(x[None, None] for x in qkv)))
    return q * rounding.score_factor(q.shape[1]), k, v


def raised(trace: Trace, place: tuple[int, int], before: Row, scores: Any) -> Any:
    """Of flash3-fp8, which rows' m follows the maximum: of masked tiles all, else where P leaves its range.

    Raises:
        AssertionError: m is neither what it was nor the new maximum, or P would have left its range.
    """
    t, count = trace.tile.numpy().tolist().index([*place]), len(scores)
    top, m = scores.max(axis=1), trace.m.numpy()[t, :count]
    slack = 2e-3 + slack_of(trace)
    again = trace.twice is not None and trace.twice.numpy()[t, :count].astype(bool)
    with np.errstate(invalid="ignore"):
        stays = np.isclose(m, before.m, rtol=1e-3, atol=slack) | (m == before.m)
    follows = np.isclose(m, np.maximum(before.m, top), rtol=1e-3, atol=slack) | np.isneginf(top)
    assert (stays | follows).all()
    assert follows[again].all()
    assert (top <= m + trace.headroom + slack).all()
    return follows & (again | ~stays)


def absorbed(before: Row, scores: Any, v: Any, headroom: float, follows: Any = None) -> Row:
    """One tile's step: m follows the maximum once it is so far above it, or where it `follows`."""
    top = scores.max(axis=1)
    rises = top > before.m + headroom if follows is None else follows & (top > before.m)
    m = np.where(rises, top, before.m)
    origin = np.where(np.isneginf(m), 0, m)
    alpha = np.where(np.isneginf(m), 1, np.exp(before.m - origin))
    weights = np.exp(scores - origin[:, None])
    l = alpha * before.l + weights.sum(axis=1)
    o, size = (alpha[:, None] * old + weights @ x for old, x in ((before.o, v), (before.size, np.abs(v))))
    return Row(m, l, o, size, alpha)


def added(one: Row, other: Row) -> Row:
    """What two parts of a row's keys come to."""
    m = np.maximum(one.m, other.m)
    keep, take = (np.exp(part.m - np.where(np.isneginf(m), 0, m)) for part in (one, other))
    pairs = ((getattr(one, name), getattr(other, name)) for name in ("l", "o", "size"))
    return Row(m, *((keep * a.T + take * b.T).T for a, b in pairs))


def parts_of(asked: TraceRequest, i: int) -> list[list[int]]:
    """The key tiles of each part of a query tile's keys, equal shares, from the last down."""
    kept = [j for j in range(asked.grid[1]) if asked.mask.keeps(*tracing.area(asked, i, j))]
    ends = [part * len(kept) // asked.splits for part in range(asked.splits + 1)]
    return [kept[begin:end][:: -1 if asked.reverse else 1] for begin, end in pairwise(ends)]


def check_state(trace: Trace, ours: dict[str, Any], state: Row) -> None:
    """m, l and O of rows, and alpha where there is one, within what the rounding of P allows."""
    met, slack = ~np.isneginf(state.m), slack_of(trace)
    np.testing.assert_allclose(ours["m"], state.m, rtol=1e-3, atol=2e-3 + slack)
    near: dict[str, Any] = {"rtol": 3e-3 + 2 * slack, "atol": 1e-3}
    np.testing.assert_allclose(ours["l"][met], state.l[met], **near)
    if state.alpha is not None:
        np.testing.assert_allclose(ours["alpha"][met], state.alpha[met], **near)
    unit = state.l[met, None] if trace.normalised else 1
    far = np.abs(ours["o"][met] - state.o[met] / unit)
    smallest = 2e-3 if trace.twice is None else 2e-3 + SMALLEST * np.abs(trace.v.numpy()).sum(axis=0)
    assert (far <= (rounding_of(trace) + 2 * slack) * state.size[met] / unit + smallest).all()


def check_merge(trace: Trace, parts: list[Row], there: Any) -> Row:
    """Hold each addition of the launch that merges parts against float64; what all parts come to."""
    if trace.merge_m is None or trace.merge_l is None or trace.merge_o is None:
        (only,) = parts
        return only
    recorded = {"m": trace.merge_m.numpy(), "l": trace.merge_l.numpy(), "o": trace.merge_o.numpy()}
    empty = nothing(*trace.output.shape)
    sums: dict[int, Row] = {}
    for addition, (into, of_parts, which) in enumerate(trace.merging):
        more = parts[which] if of_parts else sums.get(which, empty)
        sums[into] = added(sums.get(into, empty), more)
        ours = {name: array[addition][there] for name, array in recorded.items()}
        check_state(trace, ours, Row(*(array[there] for array in sums[into][:4])))
    return sums[0]
