"""The trace of a backward pass on the CPU: each tile's state in float64, and the kernel's own gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.catalogue import workspace
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cpu.backward_trace import record
from flashscope.kernels.launching import backward_tracing
from flashscope.kernels.launching.launch import prepare, prepare_backward
from flashscope.kernels.workload.backward_trace import BackwardKernel, BackwardTraceRequest
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved
from tests.kernels.backward_replaying import check_backward_trace
from tests.kernels.masked import masked_problems

GROUPED = Problem(seqlen_q=50, seqlen_k=37, batch=2, heads=4, kv_heads=2, head_dim=16, causal=True, seed=3)


@pytest.mark.parametrize("kernel", ["flash1", "flash2"])
@settings(max_examples=25, deadline=None)
@given(masked_problems(), st.integers(1, 40), st.integers(1, 40))
def test_each_state_is_that_of_a_replay_in_float64(
    kernel: BackwardKernel, problem: Problem, block_q: int, block_k: int
) -> None:
    trace = record(BackwardTraceRequest(problem=problem, kernel=kernel, block_q=block_q, block_k=block_k))
    check_backward_trace(trace)


@pytest.mark.parametrize("kernel", ["flash1", "flash2"])
@pytest.mark.parametrize("head", [0, 3])
def test_the_gradients_are_those_of_the_kernel_to_the_bit(kernel: BackwardKernel, head: int) -> None:
    rows, keys = workspace.CPU_BLOCK_Q, workspace.CPU_BLOCK_K
    problem = replace(GROUPED, seqlen_q=rows + 9, seqlen_k=keys + 5, passes="backward")
    asked = BackwardTraceRequest(problem=problem, kernel=kernel, head=head, block_q=rows, block_k=keys)
    inputs, grad_output = backward_tracing.given(asked)
    spec = find_kernel(kernel)
    forward = prepare(spec, problem, inputs, "cpu")
    forward.run()
    saved = Saved(*inputs.qkv, forward.output, forward.lse, grad_output)
    backward = prepare_backward(spec, problem, saved, "cpu")
    backward.run()
    trace, theirs = record(asked), backward_tracing.gradients_on_show(asked, backward.gradients)
    for ours, answer in zip((trace.grad_q, trace.grad_k, trace.grad_v), theirs, strict=True):
        assert ours.numpy().tobytes() == np.ascontiguousarray(answer).tobytes()


def test_the_tiles_run_with_the_keys_outside_and_the_queries_inside_head_by_head() -> None:
    trace = record(BackwardTraceRequest(problem=GROUPED, head=2, block_q=25, block_k=20))
    kept = ([0, 0], [1, 0], [1, 1])  # no query of the first block sees a key of the second
    assert trace.tile.numpy().tolist() == [[head, *place] for head in range(2) for place in kept]


@pytest.mark.parametrize(
    ("changed", "error", "told"),
    [
        ({"head": 4}, InputError, "no K/V head 4"),
        ({"block_k": 0}, InputError, "at least 1 long"),
        ({"kernel": "flash3"}, UnsupportedError, "not implemented on the cpu"),
        ({"problem": replace(GROUPED, dtype="float16")}, UnsupportedError, "not float16"),
        ({"problem": replace(GROUPED, key_lengths=(37, 20))}, UnsupportedError, "does not take"),
        ({"problem": replace(GROUPED, seqlen_q=9000, seqlen_k=9000)}, InputError, "MiB"),
    ],
)
def test_what_cannot_be_traced_is_refused_with_the_reason(
    changed: dict[str, object], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        record(replace(BackwardTraceRequest(problem=GROUPED), **changed))


def test_the_size_that_is_asked_about_before_is_that_of_the_arrays() -> None:
    asked = BackwardTraceRequest(problem=GROUPED, block_q=13, block_k=7)
    trace = record(asked)
    arrays = (getattr(trace, name) for name in trace.__struct_fields__ if name not in {"request", "device"})
    held = sum(len(one.data) for one in arrays if hasattr(one, "data"))
    assert held == backward_tracing.trace_bytes(asked, len(trace.tile.numpy()))
