"""What every backend's trace shares: the inputs, the tiles to visit, the size limit, and assembling a Trace.

A backend's `record(request)` checks the request (`check_traceable`), takes the inputs (`inputs`), computes
the tiles of `visits` in that order while it takes snapshots, and hands them to `assemble`.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import listed
from flashscope.kernels.launching.on_show import drawn, padding, qkv_on_show
from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.workload import layout
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.lengths import pages_for
from flashscope.kernels.workload.problem import NOT_TRACED, Problem
from flashscope.kernels.workload.trace import (
    MERGING_LANES,
    MOST_TILES,
    Array,
    Trace,
    TraceRequest,
    check_tiling,
)

MAX_TRACE_BYTES = 64 * 2**20
MAX_DRAWN_BYTES = 2 * 2**30  # of Q, K and V of all heads, in float32 in host memory
Floats = npt.NDArray[np.float32]


class Snapshots(NamedTuple):
    """The state after each of T tiles, in the order they ran; shapes, units and padding as in `Trace`.

    Attributes:
        s: (T, Br, Bc) scaled, masked scores.
        m: (T, Br) running maximum, in units of the scaled scores.
        l: (T, Br) running sum.
        alpha: (T, Br) factor on the old l and O.
        o: (T, Br, dv) accumulator.
    """

    s: Floats
    m: Floats
    l: Floats
    alpha: Floats
    o: Floats

    @classmethod
    def empty(cls, tiles: int, block_q: int, block_k: int, value_dim: int) -> "Snapshots":
        """T empty states: s and m are -inf, l and o 0, alpha 1; a backend fills in the parts that exist."""
        return cls(
            np.full((tiles, block_q, block_k), -np.inf, np.float32),
            np.full((tiles, block_q), -np.inf, np.float32),
            np.zeros((tiles, block_q), np.float32),
            np.ones((tiles, block_q), np.float32),
            np.zeros((tiles, block_q, value_dim), np.float32),
        )


class Merging(NamedTuple):
    """The state after each addition of a launch that merges parts of keys; see `Trace`."""

    m: Floats
    l: Floats
    o: Floats


def check_traceable(request: TraceRequest) -> None:
    """Refuse what cannot be traced.

    Raises:
        UnsupportedError: The kernel, or that of this loop order, does not take the problem's masks on this
            backend, no trace shows what it asks for, or a fault is asked of a GPU.
        InputError: No such head, an empty sequence, a block below 1, inputs of other shapes than those of
            one head alone, a trace of more than `MAX_TRACE_BYTES` or `MOST_TILES`, or more to draw than
            `MAX_DRAWN_BYTES`.
    """
    if request.fault and request.backend != "cpu":
        raise UnsupportedError("A fault is traced on the CPU alone; choose the CPU.")
    check_tiling(request)
    kernel = find_kernel(request.kernel or request.order)
    asked_for = request.problem if request.kernel else request.shown
    untraced = asked_for.features & NOT_TRACED
    if untraced:
        raise UnsupportedError(f"No trace shows {listed(untraced)}; leave that out.")
    missing = asked_for.features - kernel.features[request.backend]
    if missing:
        asked = listed(missing)
        raise UnsupportedError(f"The {request.backend} backend does not trace {asked}; choose the CPU.")
    _check_inputs(request)
    _check_drawn(request.problem)
    tiles = tile_count(request)
    size = trace_bytes(request, tiles)
    if size > MAX_TRACE_BYTES:
        raise InputError(
            f"This trace would hold {size / 2**20:.0f} MiB ({tiles} tiles of {request.block_q} "
            f"x {request.block_k}) where at most {MAX_TRACE_BYTES // 2**20} MiB are recorded; shorten the "
            "sequences or, if the tiles are tiny, enlarge the blocks."
        )
    if tiles > MOST_TILES:
        raise InputError(
            f"This trace would have {tiles} tiles where at most {MOST_TILES} are recorded; "
            "enlarge the blocks."
        )


def inputs(request: TraceRequest) -> tuple[Floats, Floats, Floats]:
    """Q (Nq, d), K (Nk, d) and V (Nk, dv) on show, in float32: the request's, else drawn from the seed."""
    return qkv_on_show(request, drawn(request))


def visits(request: TraceRequest) -> Iterator[tuple[int, int]]:
    """The tiles (i, j) in the order they run: key blocks outside for flash1, inside for flash2.

    A tile of which the mask keeps nothing is not visited. `reverse` walks the key blocks from the last; of
    keys in parts those of each part, the first part's first.
    """
    rows, columns = request.grid
    if request.order == "flash1":
        kept = [{*_kept(request, i)} for i in range(rows)]
        keys = range(columns)[::-1] if request.reverse else range(columns)
        yield from ((i, j) for j in keys for i in range(rows) if j in kept[i])
    else:
        yield from (place for i in range(rows) for part in parts_of(request, i) for place in part)


def _kept(request: TraceRequest, i: int) -> list[int]:
    """The key blocks that a query block meets, rising; those beyond its band are not looked at."""
    mask, (all_rows, all_keys) = request.mask, request.extent
    rows, width = slice(i * request.block_q, min((i + 1) * request.block_q, all_rows)), request.block_k
    span = mask.span(rows)
    near = range(span.start // width, -(-span.stop // width) if span else 0)
    return [j for j in near if mask.keeps(rows, slice(j * width, min((j + 1) * width, all_keys)))]


def parts_of(request: TraceRequest, i: int) -> list[list[tuple[int, int]]]:
    """The tiles of each part of a query block's keys, in the order they run: of equal shares."""
    kept = [(i, j) for j in _kept(request, i)]
    ends = [len(kept) * part // request.splits for part in range(request.splits + 1)]
    parts = [kept[begin:end] for begin, end in pairwise(ends)]
    return [part[::-1] for part in parts] if request.reverse else parts


def area(request: TraceRequest, i: int, j: int) -> tuple[slice, slice]:
    """The rows on show and the keys of tile (i, j)."""
    rows, keys = request.extent
    return (
        slice(i * request.block_q, min((i + 1) * request.block_q, rows)),
        slice(j * request.block_k, min((j + 1) * request.block_k, keys)),
    )


def tile_count(request: TraceRequest) -> int:
    """How many tiles `visits` yields."""
    problem = request.problem
    if not (problem.causal or problem.window or problem.block_mask):
        return prod(request.grid)  # a long sequence has hundreds of thousands
    return sum(1 for _ in visits(request))


def trace_bytes(request: TraceRequest, tiles: int) -> int:
    """Exact bytes of the arrays of a trace of so many tiles, without the clocks of a GPU."""
    problem, value_dim = request.shown, _value_dim(request)
    state = request.block_q * (request.block_k + 3 + value_dim)
    visited = tiles * (4 * state + 8)
    given = 4 * (problem.seqlen_q + problem.seqlen_k) * problem.head_dim + 4 * problem.seqlen_k * value_dim
    returned = (4 + 8) * problem.seqlen_q * (value_dim + 1)
    merged = 4 * additions(request) * problem.seqlen_q * (value_dim + 2)
    return visited + given + returned + merged


def additions(request: TraceRequest) -> int:
    """How many additions merge the parts of a row's keys at most; 0: there is one part."""
    return request.splits + MERGING_LANES - 1 if request.splits > 1 else 0


def assemble(
    request: TraceRequest,
    *,
    device: str,
    source: str,
    qkv: tuple[Floats, Floats, Floats],
    snapshots: Snapshots,
    result: tuple[Floats, Floats],
    clocks: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]] | None = None,
    headroom: float = 0.0,
    merging: Merging | None = None,
    twice: Any = None,
) -> Trace:
    """The Trace of one run, with the oracle's answer for the same inputs; all arrays in host memory.

    A row that has met no key yet is reported in the empty state, whatever the kernel holds there.

    Args:
        request: What was asked for.
        device: Name of the device that computed it.
        source: Where the snapshots come from, in words for the provenance badge.
        qkv: Q (Nq, d), K (Nk, d), V (Nk, dv) as computed with.
        snapshots: The state after each tile, in the order of `visits(request)`.
        result: What the kernel returned: O (Nq, dv) and LSE (Nq,).
        clocks: %globaltimer in ns, int64 (T,), and SM, int32 (T,), of each tile; None where there are none.
        headroom: As in `Trace`.
        merging: What merged parts of keys; None where there is one part.
        twice: As in `Trace`, NumPy.
    """
    exact, exact_lse = _exactly(request, qkv)
    tile = np.array([*visits(request)], np.int32).reshape(-1, 2)
    s, m, l, alpha, o = map(Array.of, _emptied(request, tile, snapshots))
    return Trace(
        request=request,
        device=device,
        source=source,
        tile=Array.of(tile),
        s=s,
        m=m,
        l=l,
        alpha=alpha,
        o=o,
        q=Array.of(qkv[0]),
        k=Array.of(qkv[1]),
        v=Array.of(qkv[2]),
        output=Array.of(result[0]),
        lse=Array.of(result[1]),
        exact_output=Array.of(exact),
        exact_lse=Array.of(exact_lse),
        t_ns=clocks and Array.of(clocks[0]),
        sm=clocks and Array.of(clocks[1]),
        headroom=headroom,
        merge_m=merging and Array.of(merging.m),
        merge_l=merging and Array.of(merging.l),
        merge_o=merging and Array.of(merging.o),
        pages=_pages(request),
        twice=None if twice is None else Array.of(twice),
    )


def _emptied(request: TraceRequest, tile: npt.NDArray[np.int32], snapshots: Snapshots) -> Snapshots:
    """The states after each tile, with rows that have met no key yet in the empty state."""
    s, m, l, alpha, o = snapshots
    absent = _absent(request, tile[:, 0])
    m, s = np.where(absent, np.float32(-np.inf), m), np.where(absent[..., None], np.float32(-np.inf), s)
    unseen = np.isneginf(m)
    return Snapshots(
        s,
        m,
        np.where(unseen, np.float32(0), l),
        np.where(unseen, np.float32(1), alpha),
        np.where(unseen[..., None], np.float32(0), o),
    )


def _pages(request: TraceRequest) -> Array | None:
    """The pages of the sequence on show, in the order of its keys; None: its keys lie in an array."""
    pages, size = layout.page_table(request.problem), request.problem.page_size
    if pages is None or size is None:
        return None
    return Array.of(pages[request.sequence, : pages_for(request.lengths[1], size)])


def _absent(request: TraceRequest, i: Any) -> npt.NDArray[np.bool_]:
    """Which rows of tiles of query blocks `i` are padding between packed heads: (T, Br)."""
    rows = np.append(padding(request), np.zeros(request.block_q, bool))  # what lies behind is empty as it is
    found: npt.NDArray[np.bool_] = rows[i[:, None] * request.block_q + np.arange(request.block_q)]
    return found


def _exactly(request: TraceRequest, qkv: tuple[Floats, Floats, Floats]) -> tuple[Any, Any]:
    """The oracle's O (Nq, dv) and LSE (Nq,) of the rows on show, float64; of padding 0 and -inf."""
    q, k, v = qkv
    problem, rows = request.problem, request.lengths[0]
    head_rows = problem.seqlen_q if request.packed > 1 else rows
    output, lse = attention_reference(
        q.reshape(1, request.packed, head_rows, -1)[:, :, :rows],
        k[None, None],
        v[None, None],
        causal=problem.causal,
        window=problem.window,
        block_mask=problem.block_mask,
        scale=problem.softmax_scale,
    )
    shape = request.packed, head_rows
    exact, exact_lse = np.zeros((*shape, output.shape[-1])), np.full(shape, -np.inf)
    exact[:, :rows], exact_lse[:, :rows] = output[0], lse[0]
    return exact.reshape(-1, output.shape[-1]), exact_lse.reshape(-1)


def _value_dim(request: TraceRequest) -> int:
    """Width of V; explicit inputs may have another than the head dim."""
    if request.inputs is None:
        return request.problem.head_dim
    return request.inputs[2].shape[-1] if request.inputs[2].shape else 0


def _check_drawn(problem: Problem) -> None:
    nbytes = 4 * (prod(problem.q_shape) + 2 * prod(problem.pool_shape))
    if nbytes > MAX_DRAWN_BYTES:
        raise InputError(
            f"Q, K and V of all heads would take {nbytes / 2**30:.1f} GiB in float32 where a trace draws at "
            f"most {MAX_DRAWN_BYTES / 2**30:.0f} GiB; choose fewer sequences or heads, or shorter ones."
        )


def _check_inputs(request: TraceRequest) -> None:
    """Shapes and dtypes of explicit inputs."""
    if request.inputs is None:
        return
    if request.problem.batch * request.problem.heads > 1 or not request.problem.even:
        raise InputError("Q, K and V are given for one head of one sequence that fills its arrays.")
    problem = request.shown
    rows, columns, width = problem.seqlen_q, problem.seqlen_k, problem.head_dim
    shapes = ((rows, width), (columns, width), (columns, _value_dim(request)))
    for name, shape, array in zip("QKV", shapes, request.inputs, strict=True):
        if array.shape != shape or prod(shape) == 0:
            raise InputError(f"{name} of the trace must have shape {shape}, not {array.shape}.")
        if array.dtype not in {"<f4", "<f8"}:
            raise InputError(f"{name} of the trace must be float32 or float64, not {array.dtype}.")
        if not np.isfinite(array.numpy()).all():
            raise InputError(f"{name} of the trace must hold finite numbers only.")
