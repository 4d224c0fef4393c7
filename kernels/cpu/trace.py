"""One head computed tile by tile, with a snapshot after every tile: the kernels' own steps, watched."""

from contextlib import nullcontext

import numpy as np

from flashscope.kernels.cpu.device import describe
from flashscope.kernels.cpu.faults import steps_of
from flashscope.kernels.cpu.launch import Floats
from flashscope.kernels.cpu.tiles import ForwardTile, log_sum_exp, normalise, scores
from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.tracing import Snapshots
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.trace import Trace, TraceRequest

SOURCE = "recorded while the NumPy kernel's own tile steps ran"
WITH_FAULT = "with the fault {} on purpose"


def record(request: TraceRequest) -> Trace:
    """Compute one head in float32 in tiles and record every one.

    Explicit inputs may have any head dim from 1 and a V of another width.

    Raises:
        InputError: The request cannot be traced, or the trace would be too large; the text has the numbers.
        UnsupportedError: The problem's dtype is not float32.
    """
    tracing.check_traceable(request)
    if request.problem.dtype != "float32":
        raise UnsupportedError(
            f"The CPU backend traces in float32, not {request.problem.dtype}; choose float32 or the GPU."
        )
    q, k, v = tracing.inputs(request)
    tiles, value_dim = tracing.tile_count(request), v.shape[1]
    snapshots = Snapshots.empty(tiles, request.block_q, request.block_k, value_dim)
    o = np.zeros((len(q), value_dim), np.float32)
    m, l = np.full(len(q), -np.inf, np.float32), np.zeros(len(q), np.float32)
    lse = np.empty_like(l)
    with np.errstate(all="ignore") if request.fault else nullcontext():  # a fault may leave the numbers
        _run(request, (q, k, v), (m, l, o), snapshots)
        if request.order == "flash2" and request.fault != "softmax-per-tile":
            normalise(o, l, np.empty_like(l))
        log_sum_exp(m, l, lse)
    source = f"{SOURCE}, {WITH_FAULT.format(request.fault)}" if request.fault else SOURCE
    return tracing.assemble(
        request, device=describe().name, source=source, qkv=(q, k, v), snapshots=snapshots, result=(o, lse)
    )


def _run(
    request: TraceRequest,
    qkv: tuple[Floats, Floats, Floats],
    state: tuple[Floats, Floats, Floats],
    snapshots: Snapshots,
) -> None:
    """Visit the tiles in order; after each, copy what the kernel holds."""
    q, k, v = qkv
    mask, absorb, keys = steps_of(request, k, v)
    tile = _tile(request.block_q, request.block_k, v.shape[1])
    for t, (i, j) in enumerate(tracing.visits(request)):
        rows, columns = tracing.area(request, i, j)
        m, l, o = (array[rows] for array in state)
        part = tile.cut(len(m), columns.stop - columns.start)
        block_k, block_v = keys.load(i, columns)
        scores(q[rows], block_k, part.s, request.shown, (rows, columns), mask=mask)
        snapshots.s[t, : len(m), : part.s.shape[1]] = part.s
        absorb((m, l, o), part, block_v, mask, (rows, columns))
        for recorded, held in zip(snapshots[1:], (m, l, part.alpha, o), strict=True):
            recorded[t, : len(m)] = held


def _tile(block_q: int, block_k: int, value_dim: int) -> ForwardTile:
    """One tile's buffers."""
    shapes = ((block_q, block_k), (block_q, value_dim), (block_q,), (block_q,))
    return ForwardTile(*(np.empty(shape, np.float32) for shape in shapes))
