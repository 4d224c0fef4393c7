"""What the instrumented kernels record, in the emulator, against the trace of the CPU."""

from typing import Any

import numpy as np
import pytest

from flashscope.kernels.catalogue.workspace import RUNNING_O
from flashscope.kernels.cpu.trace import record as record_on_cpu
from flashscope.kernels.cuda.instrument import RECORDED, instrumented
from flashscope.kernels.cuda.program import ceil_div
from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.tracing import Snapshots
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import LoopOrder, TraceRequest
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import needs_compiler

WITHOUT_CLOCK = (  # the emulator has neither a clock nor several SMs
    ('asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));', "now = 7;"),
    ('asm volatile("mov.u32 %0, %%smid;" : "=r"(id));', "id = 3;"),
)


def recorded(request: TraceRequest) -> dict[str, Any]:
    """The recording's buffers after a run, and O and LSE."""
    problem, tile = request.problem, (request.block_q, request.block_k)
    rows, width = problem.seqlen_q, problem.head_dim
    tiles = ceil_div(rows, tile[0]) * ceil_div(problem.seqlen_k, tile[1])
    with guarded_memory() as memory:
        buffers = {name: memory.copy(name, x) for name, x in zip("qkv", tracing.inputs(request), strict=True)}
        for name, shape in ((RUNNING_O, (rows, width)), ("o", (rows, width))):
            buffers[name] = memory.empty(name, shape, np.float32)
        buffers |= {name: memory.empty(name, (rows,), np.float32) for name in ("m", "l", "lse")}
        empty = (*Snapshots.empty(tiles, *tile, width), np.zeros(tiles, np.int64), np.zeros(tiles, np.int32))
        for name, fill in zip(RECORDED, empty, strict=True):
            buffers[name] = memory.copy(name, fill)
        run(instrumented(request, problem), buffers, edits=WITHOUT_CLOCK)
        return {name: array.copy() for name, array in buffers.items()}


@needs_compiler
@pytest.mark.parametrize("order", ["flash1", "flash2"])
@pytest.mark.parametrize("reverse", [False, True])
def test_each_tile_leaves_its_state_in_its_place(order: LoopOrder, reverse: bool) -> None:
    problem = Problem(seqlen_q=20, seqlen_k=37, head_dim=16, causal=True, seed=3)
    asked = TraceRequest(problem=problem, backend="cuda", order=order, block_q=16, block_k=8, reverse=reverse)
    found, expected = recorded(asked), record_on_cpu(asked)
    columns = ceil_div(problem.seqlen_k, asked.block_k)
    ran = [i * columns + j for i, j in tracing.visits(asked)]
    found["trace_alpha"][np.isneginf(found["trace_m"])] = 1  # as tracing.assemble has it
    for field in ("s", "m", "l", "alpha", "o"):
        ours, theirs = found[f"trace_{field}"][ran], getattr(expected, field).numpy()
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    assert {*found["trace_t_ns"][ran]} == {7}
    assert {*found["trace_sm"][ran]} == {3}
    np.testing.assert_allclose(found["o"], expected.exact_output.numpy(), atol=1e-5)
