"""Where an instrumented kernel records, and the recording in the order its tiles ran. Imports CuPy."""

from typing import Any

import cupy
import numpy as np
import numpy.typing as npt

from flashscope.kernels.cuda.instrument import MERGED, RECORDED, TWICE
from flashscope.kernels.cuda.program import ceil_div
from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.tracing import Merging, Snapshots
from flashscope.kernels.workload.trace import TraceRequest

Clocks = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]
"""Of each tile when it ended, ns of the GPU's clock, and the SM that computed it."""


def recording_buffers(request: TraceRequest, width: int) -> dict[str, Any]:
    """A place for every tile there may be, in the empty state.

    Args:
        request: What is traced, in the tiles that the kernel takes.
        width: Of the rows of O as the kernel holds them.
    """
    rows = request.packed * request.problem.seqlen_q  # as many as a launch may look at, with padding
    tiles = ceil_div(rows, request.block_q) * _columns(request)
    empty = Snapshots.empty(tiles, request.block_q, request.block_k, width)
    clocks = np.zeros(tiles, np.int64), np.zeros(tiles, np.int32)
    arrays = dict(zip(RECORDED, (*empty, *clocks), strict=True))
    if request.splits > 1:
        additions = tracing.additions(request), rows
        filled = np.full(additions, -np.inf, np.float32), np.zeros(additions, np.float32)
        arrays |= zip(MERGED, (*filled, np.zeros((*additions, width), np.float32)), strict=True)
    if request.kernel == "flash3-fp8":
        arrays[TWICE] = np.zeros((tiles, request.block_q), np.uint8)
    return {name: cupy.asarray(array) for name, array in arrays.items()}


def collected(request: TraceRequest, buffers: dict[str, Any], value_dim: int) -> tuple[Snapshots, Clocks]:
    """The recording in the order the tiles ran, in host memory."""
    order = _order(request)
    s, m, l, alpha, o, t_ns, sm = (cupy.asnumpy(buffers[name])[order] for name in RECORDED)
    return Snapshots(s, m, l, alpha, o[..., :value_dim]), (t_ns, sm)


def computed_twice(request: TraceRequest, buffers: dict[str, Any]) -> Any:
    """Which rows of each tile were computed twice, uint8 (T, Br), in that order; None: of no such kernel."""
    return cupy.asnumpy(buffers[TWICE])[_order(request)] if TWICE in buffers else None


def _order(request: TraceRequest) -> npt.NDArray[np.int64]:
    """The slots of the tiles in the order they ran."""
    return np.array([i * _columns(request) + j for i, j in tracing.visits(request)], np.int64)


def merged(request: TraceRequest, buffers: dict[str, Any], additions: int) -> Merging | None:
    """What merged the parts of the rows on show, so many additions; None where keys are in one part."""
    if request.splits == 1:
        return None
    rows = request.shown.seqlen_q
    return Merging(*(cupy.asnumpy(buffers[name][:additions, :rows]) for name in MERGED))


def _columns(request: TraceRequest) -> int:
    return ceil_div(request.problem.seqlen_k, request.block_k)  # as the launch numbers tiles
