"""Trace of a timed kernel: its own source in its own tiles, compiled once more with its recording."""

import cupy
import msgspec
import numpy as np

from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.instrument import timed, timed_cut
from flashscope.kernels.cuda.launch import bind_launches, current_target, load_kernels
from flashscope.kernels.cuda.trace_buffers import collected, recording_buffers
from flashscope.kernels.launching import tracing
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.trace import Trace, TraceRequest


def record(request: TraceRequest) -> Trace:
    """Run the timed kernel on one head and collect its state after every tile; O is its own to the bit.

    The trace's request has the tile that the kernel took, and the order of its keys: from the last down.

    Raises:
        InputError: The problem is not in 16 bits, or its trace would be too large.
        CompileError: The compiler refused the kernel.
    """
    problem = request.problem
    if problem.dtype == "float32":
        raise InputError(f"In float32 {request.kernel} runs on the FMA units: trace its loop order instead.")
    cut = timed_cut(request.kernel, problem, current_target())
    asked = msgspec.structs.replace(request, block_q=cut.tile.q, block_k=cut.tile.k, reverse=True)
    tracing.check_traceable(asked)
    dtype = storage_dtype(problem.dtype)
    qkv = tuple(array.astype(dtype) for array in tracing.inputs(asked))
    buffers = recording_buffers(asked, problem.head_dim)
    buffers |= {name: cupy.asarray(array)[None, None] for name, array in zip("qkv", qkv, strict=True)}
    buffers["o"] = cupy.empty(problem.q_shape, dtype)
    buffers["lse"] = cupy.empty(problem.q_shape[:3], cupy.float32)
    program = timed(cut.program)
    buffers |= {name: cupy.asarray(table) for name, table in program.tables.items()}
    for launch in bind_launches(program, load_kernels(program), buffers):
        launch()
    snapshots, clocks = collected(asked, buffers, problem.head_dim)
    output = cupy.asnumpy(buffers["o"][0, 0].astype(cupy.float32)), cupy.asnumpy(buffers["lse"][0, 0])
    q, k, v = (array.astype(np.float32) for array in qkv)
    return tracing.assemble(
        asked,
        device=describe().name,
        source=f"{program.source} as it is timed, with its recording compiled in, on the GPU",
        qkv=(q, k, v),
        snapshots=snapshots,
        result=output,
        clocks=clocks,
        headroom=cut.headroom,
    )
