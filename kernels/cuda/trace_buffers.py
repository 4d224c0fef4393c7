"""Where an instrumented kernel records, and the recording in the order its tiles ran. Imports CuPy."""

from typing import Any

import cupy
import numpy as np
import numpy.typing as npt

from flashscope.kernels.cuda.instrument import RECORDED
from flashscope.kernels.cuda.program import ceil_div
from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.tracing import Snapshots
from flashscope.kernels.workload.trace import TraceRequest

Clocks = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]
"""Of each tile when it ended, ns of the GPU's clock, and the SM that computed it."""


def recording_buffers(request: TraceRequest, width: int) -> dict[str, Any]:
    """A place for every tile there may be, in the empty state.

    Args:
        request: What is traced, in the tiles that the kernel takes.
        width: Of the rows of O as the kernel holds them.
    """
    tiles = ceil_div(request.problem.seqlen_q, request.block_q) * _columns(request)
    empty = Snapshots.empty(tiles, request.block_q, request.block_k, width)
    clocks = np.zeros(tiles, np.int64), np.zeros(tiles, np.int32)
    return {name: cupy.asarray(array) for name, array in zip(RECORDED, (*empty, *clocks), strict=True)}


def collected(request: TraceRequest, buffers: dict[str, Any], value_dim: int) -> tuple[Snapshots, Clocks]:
    """The recording in the order the tiles ran, in host memory."""
    order = np.array([i * _columns(request) + j for i, j in tracing.visits(request)], np.int64)
    s, m, l, alpha, o, t_ns, sm = (cupy.asnumpy(buffers[name])[order] for name in RECORDED)
    return Snapshots(s, m, l, alpha, o[..., :value_dim]), (t_ns, sm)


def _columns(request: TraceRequest) -> int:
    return ceil_div(request.problem.seqlen_k, request.block_k)
