"""Trace of a timed kernel: its own source in its own tiles, compiled once more with its recording."""

from typing import Any

import cupy
import numpy as np

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.instrument import TimedCut, timed, timed_cut
from flashscope.kernels.cuda.launch import bind_launches, current_target, load_kernels
from flashscope.kernels.cuda.trace_buffers import collected, computed_twice, merged, recording_buffers
from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.on_show import drawn, qkv_on_show, rows_on_show
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.tensors import Inputs
from flashscope.kernels.workload.trace import Trace, TraceRequest, check_tiling


def record(request: TraceRequest) -> Trace:
    """Run the timed kernel on its whole problem and collect one head's state after every tile.

    O is its own to the bit. The trace's request has the tile, the order of keys and the share of the SMs that
    the kernel took: where it packs heads into tiles, all of these are on show.

    Raises:
        InputError: The problem is not in 16 bits, or its trace would be too large.
        CompileError: The compiler refused the kernel.
    """
    problem = request.problem
    if problem.dtype == "float32":
        raise InputError(f"In float32 {request.kernel} runs on the FMA units: trace its loop order instead.")
    check_tiling(request)
    cut = timed_cut(request.kernel, problem, current_target())
    asked = cut.of(request)
    tracing.check_traceable(asked)
    dtype = storage_dtype(problem.dtype)
    every = drawn(asked)
    given = every._replace(**{name: getattr(every, name).astype(dtype) for name in "qkv"})
    buffers = _buffers(asked, cut, given)
    program = timed(cut.program, asked.head // cut.packed)
    for launch in bind_launches(program, load_kernels(program), buffers):
        launch()
    snapshots, clocks = collected(asked, buffers, problem.head_dim)
    output, lse = (cupy.asnumpy(buffers[name].astype(np.float32)) for name in ("o", "lse"))
    return tracing.assemble(
        asked,
        device=describe().name,
        source=f"{program.source} as it is timed, with its recording compiled in, on the GPU",
        qkv=qkv_on_show(asked, given),
        snapshots=snapshots,
        result=(rows_on_show(asked, output), rows_on_show(asked, lse)),
        clocks=clocks,
        headroom=cut.headroom,
        merging=merged(asked, buffers, cut.additions),
        twice=computed_twice(asked, buffers),
    )


def _buffers(asked: TraceRequest, cut: TimedCut, given: Inputs) -> dict[str, Any]:
    """Everything that the launches read or write, on the device."""
    problem = asked.problem
    buffers = {name: cupy.asarray(array) for name, array in given.arrays.items()}
    buffers |= recording_buffers(asked, problem.head_dim)
    for one in find_kernel(asked.kernel).workspace(problem, "cuda"):
        buffers[one.name] = cupy.empty(one.shape, storage_dtype(one.dtype))
    buffers["o"] = cupy.empty(problem.q_shape, storage_dtype(problem.dtype))
    buffers["lse"] = cupy.empty(problem.q_shape[:3], np.float32)
    return buffers | {name: cupy.asarray(table) for name, table in cut.program.tables.items()}
