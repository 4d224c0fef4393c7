"""The passes that a problem asks for as one run: what it writes, what it holds, who refuses it."""

from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import KERNELS, find_kernel, runnable
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.launching.passes import after_forward, draw_given, prepare_passes
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import PASSES, Backend, Passes, Problem

SMALL = Problem(seqlen_q=70, seqlen_k=90, heads=2, kv_heads=1, head_dim=16, causal=True)
WITH_BACKWARD = [
    pytest.param(spec.name, marks=[pytest.mark.torch] if spec.extra else [])
    for spec in KERNELS
    if spec.backward is not None and "cpu" in spec.backward.implementation
]
each_kernel = pytest.mark.parametrize("kernel", WITH_BACKWARD)
each_pass = pytest.mark.parametrize("passes", PASSES)


def judged(kernel: str, problem: Problem, backend: Backend) -> None:
    """Run twice, what the first run wrote spoilt between, and compare all that it writes with the oracle."""
    spec = find_kernel(kernel)
    given = after_forward(spec, problem, draw_given(problem, backend), backend)
    launch = prepare_passes(spec, problem, given, backend)
    launch.run()
    launch.spoil()
    launch.run()
    answer = launch.answer()
    assert (answer.output is not None) == problem.runs_forward
    assert (answer.gradients.dq is not None) == problem.runs_backward
    if problem.runs_forward:
        verdict = verify(problem, given.inputs, answer.output, answer.lse)
        assert verdict.passed, verdict
    if problem.runs_backward:
        verdict = gradient_criterion(problem, given.inputs, given.grad_output).judge(answer.gradients)
        assert verdict.passed, verdict
    launch.release()


@each_kernel
@each_pass
def test_each_pass_writes_what_it_is_asked_for_and_is_right(kernel: str, passes: Passes) -> None:
    judged(kernel, replace(SMALL, passes=passes), "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", [spec.name for spec in KERNELS if spec.backward])
@each_pass
def test_each_pass_is_right_on_a_gpu(kernel: str, passes: Passes) -> None:
    from flashscope.kernels.cuda.device import describe as describe_gpu  # noqa: PLC0415 - imports CuPy

    problem = Problem(seqlen_q=200, seqlen_k=200, heads=2, dtype="float16", causal=True, passes=passes)
    reason = find_kernel(kernel).unsupported(problem, describe_gpu())
    if reason is not None:
        pytest.skip(reason)
    judged(kernel, problem, "cuda")


@each_pass
@pytest.mark.parametrize("kernel", ["standard", "flash1", "flash2"])
def test_what_is_held_is_what_was_predicted(kernel: str, passes: Passes) -> None:
    spec, problem = find_kernel(kernel), replace(SMALL, passes=passes)
    given = after_forward(spec, problem, draw_given(problem, "cpu"), "cpu")
    launch = prepare_passes(spec, problem, given, "cpu")
    held = given.nbytes + launch.answer().nbytes + launch.workspace_bytes
    assert held == spec.predicted_bytes(problem, "cpu")


def test_the_same_is_drawn_for_every_pass_and_do_is_none_of_it() -> None:
    forward, backward = (draw_given(replace(SMALL, passes=one), "cpu") for one in ("forward", "backward"))
    assert forward.grad_output is None
    assert all(map(np.array_equal, forward.inputs.qkv, backward.inputs.qkv))
    assert all(map(np.array_equal, forward.inputs, make_inputs(SMALL, "cpu")))
    assert backward.nbytes == replace(SMALL, passes="backward").drawn_bytes
    assert not np.array_equal(backward.grad_output, backward.inputs.q)


def test_backward_counts_two_and_a_half_times_the_operations_and_both_three_and_a_half() -> None:
    forward, backward, both = (replace(SMALL, passes=one).flops for one in PASSES)
    assert (backward / forward, both / forward) == (2.5, 3.5)


def test_a_kernel_without_a_backward_pass_says_so_and_is_not_offered() -> None:
    problem, cpu = replace(SMALL, passes="backward"), describe()
    assert find_kernel("fused").unsupported(SMALL, cpu) is None
    assert find_kernel("fused").unsupported(problem, cpu) == "fused has no backward pass"
    assert runnable(("fused", "flash2"), (problem,), cpu) == ("flash2",)
    assert "not float16" in str(find_kernel("flash2").unsupported(replace(problem, dtype="float16"), cpu))


@pytest.mark.parametrize("said", ["sideways", "", None, 1])
def test_a_pass_that_does_not_exist_is_refused_wherever_it_comes_from(said: Any) -> None:
    with pytest.raises(InputError, match="pass must be one of forward, backward, both, not"):
        Problem(seqlen_q=1, seqlen_k=1, passes=said)
    with pytest.raises(msgspec.ValidationError, match="pass"):
        msgspec.convert({"seqlen_q": 1, "seqlen_k": 1, "pass": said}, Problem)


def test_a_problem_written_before_there_were_passes_is_forward() -> None:
    old = b'{"seqlen_q": 4, "seqlen_k": 4, "causal": true}'
    assert msgspec.json.decode(old, type=Problem).passes == "forward"
    told = msgspec.json.encode(replace(SMALL, passes="both"))
    assert b'"pass":"both"' in told
    assert msgspec.json.decode(told, type=Problem).passes == "both"
