"""Traces from a file: every relation between their parts that the program relies on is checked."""

import msgspec

from flashscope.kernels.workload.lengths import pages_for
from flashscope.kernels.workload.trace import MERGING_LANES, MOST_TILES, Trace, check_tiling
from flashscope.profiles.store.blobs.arrays import BYTES, FLOATS, INTEGERS, check_array

KINDS = {**dict.fromkeys(("tile", "t_ns", "sm", "pages"), INTEGERS), "twice": BYTES}
"""Of arrays that are no floats."""


def decode_trace(blob: bytes) -> Trace:
    """A trace as it was written, unpacked.

    Raises:
        ValueError: It is none, or its parts do not fit together; the text says which.
    """
    trace = msgspec.msgpack.decode(blob, type=Trace)
    check_tiling(trace.request)
    for name, shape in _shapes(trace).items():
        array = getattr(trace, name)
        if array is not None:
            check_array(f"{name} of a trace", array, shape, KINDS.get(name, FLOATS))
    problem = trace.request.problem
    if trace.request.inputs and (problem.batch * problem.heads > 1 or not problem.even):
        raise ValueError("a trace whose Q, K and V are given, of other than one head that fills its arrays")
    for name, given in zip("qkv", trace.request.inputs or (), strict=False):
        check_array(f"given {name} of a trace", given, getattr(trace, name).shape, FLOATS)
    _check_tiles(trace)
    return trace


def _shapes(trace: Trace) -> dict[str, tuple[int, ...]]:
    """The shape that each array must have; T and dv are those of `tile` and `v`."""
    request, problem = trace.request, trace.request.shown
    tiles, value_dim = (*trace.tile.shape, 0)[0], (0, *trace.v.shape)[-1]
    if value_dim < 1:
        raise ValueError(f"a trace with V of shape {trace.v.shape}")
    rows, keys, width = problem.seqlen_q, problem.seqlen_k, problem.head_dim
    of_rows, merged = (tiles, request.block_q), (_additions(trace), rows)
    pages = pages_for(keys, request.problem.page_size) if request.problem.page_size is not None else 0
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
        **dict.fromkeys(("merge_m", "merge_l"), merged),
        "merge_o": (*merged, value_dim),
        "pages": (pages,),
        "twice": of_rows,
    }


def _additions(trace: Trace) -> int:
    """How many additions merge the parts of its keys.

    Raises:
        ValueError: There are parts and no merge of them, or more or fewer additions than merge so many.
    """
    parts, merged = trace.request.splits, (trace.merge_m, trace.merge_l, trace.merge_o)
    if parts == 1 and not any(merged):
        return 0
    count = (0 if trace.merge_m is None else (*trace.merge_m.shape, 0)[0]) if all(merged) else 0
    if parts == 1 or not parts <= count < parts + MERGING_LANES:
        raise ValueError(f"a trace of {parts} parts of keys with {count} additions of them")
    return count


def _check_tiles(trace: Trace) -> None:
    """Refuse a tile that lies outside of the scores, and one that ran twice."""
    rows, columns = trace.request.grid
    ran = [(i, j) for i, j in trace.tile.numpy().tolist()]
    if len(ran) > MOST_TILES:
        raise ValueError(f"a trace of {len(ran)} tiles")
    if not all(0 <= i < rows and 0 <= j < columns for i, j in ran) or len(set(ran)) < len(ran):
        raise ValueError(f"a trace with tiles that lie outside of {rows} x {columns} or ran twice")
