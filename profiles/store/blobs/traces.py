"""Traces from a file: every relation between their parts that the program relies on is checked."""

import msgspec

from flashscope.kernels.workload.trace import MOST_TILES, Trace, check_tiling
from flashscope.profiles.store.blobs.arrays import FLOATS, INTEGERS, check_array


def decode_trace(blob: bytes) -> Trace:
    """A trace as it was written.

    Raises:
        ValueError: It is none, or its parts do not fit together; the text says which.
    """
    trace = msgspec.msgpack.decode(blob, type=Trace)
    check_tiling(trace.request)
    if trace.request.problem.batch != 1 or trace.request.problem.heads != 1:
        raise ValueError("a trace of more than one head")
    for name, shape in _shapes(trace).items():
        array = getattr(trace, name)
        if array is not None:
            kinds = INTEGERS if name in {"tile", "t_ns", "sm"} else FLOATS
            check_array(f"{name} of a trace", array, shape, kinds)
    for name, given in zip("qkv", trace.request.inputs or (), strict=False):
        check_array(f"given {name} of a trace", given, getattr(trace, name).shape, FLOATS)
    _check_tiles(trace)
    return trace


def _shapes(trace: Trace) -> dict[str, tuple[int, ...]]:
    """The shape that each array must have; T and dv are those of `tile` and `v`."""
    request, problem = trace.request, trace.request.problem
    tiles, value_dim = (*trace.tile.shape, 0)[0], (0, *trace.v.shape)[-1]
    if value_dim < 1:
        raise ValueError(f"a trace with V of shape {trace.v.shape}")
    rows, keys, width = problem.seqlen_q, problem.seqlen_k, problem.head_dim
    of_rows = (tiles, request.block_q)
    return {
        "tile": (tiles, 2),
        "s": (*of_rows, request.block_k),
        **dict.fromkeys(("m", "l", "alpha"), of_rows),
        "o": (*of_rows, value_dim),
        "q": (rows, width),
        "k": (keys, width),
        "v": (keys, value_dim),
        **dict.fromkeys(("output", "exact_output"), (rows, value_dim)),
        **dict.fromkeys(("lse", "exact_lse"), (rows,)),
        **dict.fromkeys(("t_ns", "sm"), (tiles,)),
    }


def _check_tiles(trace: Trace) -> None:
    """Refuse a tile that lies outside of the scores, and one that ran twice."""
    rows, columns = trace.request.grid
    ran = [(i, j) for i, j in trace.tile.numpy().tolist()]
    if len(ran) > MOST_TILES:
        raise ValueError(f"a trace of {len(ran)} tiles")
    if not all(0 <= i < rows and 0 <= j < columns for i, j in ran) or len(set(ran)) < len(ran):
        raise ValueError(f"a trace with tiles that lie outside of {rows} x {columns} or ran twice")
