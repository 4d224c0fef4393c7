"""The recorded backward passes on a GPU: each state in float64, and the timed kernel's gradients."""

from typing import Any

import numpy as np
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching import backward_tracing
from flashscope.kernels.launching.launch import prepare_backward
from flashscope.kernels.workload.backward_trace import BACKWARD_KERNELS, BackwardKernel, BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from tests.kernels.backward_replaying import check_backward_trace
from tests.kernels.cuda.test_emulated_backward_trace import BLOCKS, CASES, HEADS, SHAPES

pytestmark = pytest.mark.gpu


def asked(kernel: BackwardKernel, shape: str, head_dim: int) -> BackwardTraceRequest:
    options = (SHAPES | BLOCKS)[shape]
    problem = Problem(**options, head_dim=head_dim, dtype="float16", seed=2, passes="backward")
    return BackwardTraceRequest(problem=problem, backend="cuda", kernel=kernel, head=HEADS.get(shape, 0))


@pytest.mark.parametrize("case", CASES)
def test_each_state_is_that_of_a_replay_in_float64(cp: Any, case: tuple[BackwardKernel, str, int]) -> None:
    from flashscope.kernels.cuda.backward_trace import record  # noqa: PLC0415 - imports CuPy

    trace = record(asked(*case))
    check_backward_trace(trace)
    assert trace.t_ns is not None
    assert trace.sm is not None
    assert (trace.t_ns.numpy() > 0).all()
    walks = trace.tile.numpy()[:, 2]
    assert (np.diff(trace.t_ns.numpy())[walks[1:] == walks[:-1]] >= 0).all()
    assert trace.sm.numpy().max() < cp.cuda.Device().attributes["MultiProcessorCount"]


@pytest.mark.parametrize("kernel", BACKWARD_KERNELS)
@pytest.mark.parametrize("shape", ["grouped", "deterministic"])
def test_the_gradients_are_those_of_the_timed_kernel_to_the_bit(
    cp: Any, kernel: BackwardKernel, shape: str
) -> None:
    from flashscope.kernels.cuda import backward_trace  # noqa: PLC0415 - imports CuPy

    request = asked(kernel, shape, 64)
    trace = backward_trace.record(request)
    saved = backward_trace.saved_of(request)
    timed = prepare_backward(find_kernel(kernel), request.problem, saved, "cuda")
    timed.run()
    answer = backward_tracing.gradients_on_show(
        request, type(timed.gradients)(*map(cp.asnumpy, timed.gradients))
    )
    repeats = kernel == "flash1" or request.problem.deterministic
    names = ("grad_q", "grad_k", "grad_v") if repeats else ("grad_k", "grad_v")
    for name, theirs in zip(("grad_q", "grad_k", "grad_v"), answer, strict=True):
        if name in names:
            assert (getattr(trace, name).numpy() == theirs).all(), name
