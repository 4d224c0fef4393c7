"""Traces of backward passes from a file: every relation between their parts is checked."""

import msgspec

from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest, DqPass
from flashscope.kernels.workload.trace import MOST_TILES, Array
from flashscope.profiles.store.blobs.arrays import FLOATS, INTEGERS, check_array

WHOLE = dict.fromkeys(("tile", "t_ns", "sm"), INTEGERS)
"""Kinds of arrays that are no floats."""


def decode_backward_trace(blob: bytes) -> BackwardTrace:
    """A trace as it was written, unpacked.

    Raises:
        ValueError: It is none, or its parts do not fit together; the text says which.
    """
    trace = msgspec.msgpack.decode(blob, type=BackwardTrace)
    trace.request.check_tiling()
    _check_arrays(trace, _shapes(trace))
    _check_tiles(trace.request, trace.tile)
    if (trace.dq is None) == (trace.dq_pass is None):
        raise ValueError("a trace of a backward pass whose dQ is computed in two launches, or in none")
    if trace.dq_pass is not None:
        trace.apart.check_tiling()
        _check_arrays(trace.dq_pass, _dq_shapes(trace.dq_pass, trace.apart))
        _check_tiles(trace.apart, trace.dq_pass.tile)
    return trace


def _check_arrays(held: BackwardTrace | DqPass, shapes: dict[str, tuple[int, ...]]) -> None:
    for name, shape in shapes.items():
        array = getattr(held, name)
        if array is not None:
            kind = WHOLE.get(name, FLOATS)
            check_array(f"{name} of a trace of a backward pass", array, shape, kind)


def _shapes(trace: BackwardTrace) -> dict[str, tuple[int, ...]]:
    """The shape that each array must have; T is that of `tile`."""
    request, problem = trace.request, trace.request.problem
    tiles, width, rows, keys = _count(trace.tile), problem.head_dim, request.block_q, request.block_k
    of_queries, of_keys = (request.group, problem.seqlen_q), (problem.seqlen_k, width)
    return {
        "tile": (tiles, 3),
        **dict.fromkeys(("p", "dp", "ds"), (tiles, rows, keys)),
        "delta": (tiles, rows),
        "dq": (tiles, rows, width),
        **dict.fromkeys(("dk", "dv"), (tiles, keys, width)),
        **dict.fromkeys(("q", "grad_output", "output", "grad_q", "exact_q"), (*of_queries, width)),
        "lse": of_queries,
        **dict.fromkeys(("k", "v", "grad_k", "grad_v", "exact_k", "exact_v"), of_keys),
        **dict.fromkeys(("t_ns", "sm"), (tiles,)),
    }


def _dq_shapes(one: DqPass, asked: BackwardTraceRequest) -> dict[str, tuple[int, ...]]:
    """The same of a launch that computes dQ alone; R is that of its `tile`."""
    tiles = _count(one.tile)
    return {
        "tile": (tiles, 3),
        **dict.fromkeys(("p", "dp", "ds"), (tiles, one.block_q, one.block_k)),
        "dq": (tiles, one.block_q, asked.problem.head_dim),
        **dict.fromkeys(("t_ns", "sm"), (tiles,)),
    }


def _count(tile: Array) -> int:
    return (*tile.shape, 0)[0]


def _check_tiles(asked: BackwardTraceRequest, tile: Array) -> None:
    """Refuse a tile that lies outside of the scores, and one that ran twice."""
    heads, rows, columns = asked.grid
    ran = [(head, i, j) for head, i, j in tile.numpy().tolist()]
    if len(ran) > MOST_TILES:
        raise ValueError(f"a trace of {len(ran)} tiles")
    inside = all(0 <= head < heads and 0 <= i < rows and 0 <= j < columns for head, i, j in ran)
    if not inside or len(set(ran)) < len(ran):
        raise ValueError(f"a trace with tiles that lie outside of {heads} x {rows} x {columns} or ran twice")
