"""Trace of a CUDA run: a loop order on the FMA units, or a timed kernel, compiled to record its state."""

from typing import Any

import cupy
import msgspec
import numpy as np

from flashscope.kernels.catalogue.workspace import RUNNING_O
from flashscope.kernels.cuda import trace_timed
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.instrument import instrumented
from flashscope.kernels.cuda.launch import bind_launches, load_kernels
from flashscope.kernels.cuda.program import round_up
from flashscope.kernels.cuda.trace_buffers import collected, recording_buffers
from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.tracing import Floats
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Trace, TraceRequest

LARGEST_BLOCK = 64
LARGEST_HEAD_DIM = 128
VECTOR = 8  # elements of one access of the widest kind: head dims are padded to it


def record(request: TraceRequest) -> Trace:
    """Run the instrumented kernel on one head and collect its state after every tile.

    Raises:
        InputError: The request is beyond what can be traced.
        CompileError: The compiler refused the kernel.
    """
    if request.kernel:
        return trace_timed.record(request)
    tracing.check_traceable(request)
    _check(request)
    q, k, v = _rounded(request)
    width = round_up(max(q.shape[1], v.shape[1]), VECTOR)
    problem = msgspec.structs.replace(request.problem, head_dim=width, scale=request.problem.softmax_scale)
    buffers = _buffers(request, problem, (q, k, v))
    program = instrumented(request, problem)
    for launch in bind_launches(program, load_kernels(program), buffers):
        launch()
    value_dim = v.shape[1]
    snapshots, clocks = collected(request, buffers, value_dim)
    result = (cupy.asnumpy(buffers["o"].astype(cupy.float32))[:, :value_dim], cupy.asnumpy(buffers["lse"]))
    return tracing.assemble(
        request,
        device=describe().name,
        source=f"{program.source}, {request.order} order on the FMA units, instrumented, on the GPU",
        qkv=(q, k, v),
        snapshots=snapshots,
        result=result,
        clocks=clocks,
    )


def _check(request: TraceRequest) -> None:
    if max(request.block_q, request.block_k) > LARGEST_BLOCK:
        raise InputError(
            f"The blocks of a trace on the GPU may be at most {LARGEST_BLOCK} long, not {request.block_q} x "
            f"{request.block_k}; the CPU backend takes larger ones."
        )
    head_dim = max([request.problem.head_dim, *(a.shape[-1] for a in request.inputs or ())])
    if head_dim > LARGEST_HEAD_DIM:
        raise InputError(
            f"A trace on the GPU takes head dims up to {LARGEST_HEAD_DIM}, not {head_dim}; "
            "the CPU backend takes larger ones."
        )


def _rounded(request: TraceRequest) -> tuple[Floats, Floats, Floats]:
    """Q, K and V as the kernel sees them: rounded to the problem's dtype, held in float32."""
    dtype = storage_dtype(request.problem.dtype)
    q, k, v = (array.astype(dtype).astype(np.float32) for array in tracing.inputs(request))
    return q, k, v


def _buffers(request: TraceRequest, problem: Problem, qkv: tuple[Floats, ...]) -> dict[str, Any]:
    """Everything the kernel reads or writes, the recording prefilled with the empty state."""
    dtype, rows, width = storage_dtype(problem.dtype), problem.seqlen_q, problem.head_dim
    padded = (np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in qkv)
    buffers = {name: cupy.asarray(array).astype(dtype) for name, array in zip("qkv", padded, strict=True)}
    buffers[RUNNING_O] = cupy.empty((rows, width), cupy.float32)
    buffers |= {name: cupy.empty(rows, cupy.float32) for name in ("m", "l", "lse")}
    buffers["o"] = cupy.empty((rows, width), dtype)
    return buffers | recording_buffers(request, width)
