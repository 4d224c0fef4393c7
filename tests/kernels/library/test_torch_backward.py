"""PyTorch's backward passes: ours agree with its autograd, and as peers they are held to our criterion."""

from typing import Any

import numpy as np
import pytest

from flashscope.kernels import attention_backward
from flashscope.kernels.catalogue.peers import TORCH_AUTO, TORCH_CUDNN, TORCH_EFFICIENT, TORCH_FLASH
from flashscope.kernels.catalogue.spec import HEAD_DIMS, KernelSpec
from flashscope.kernels.launching.launch import make_inputs, prepare_backward
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients
from tests.kernels.library.test_torch_attention import PROBLEMS, each_peer
from tests.kernels.running_backward import CPU_KERNELS, grad_output_of, saved

pytestmark = pytest.mark.torch
each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=range(len(PROBLEMS)))


def in_float64(problem: Problem, given: Any) -> list[Any]:
    """The gradients of the formula written in PyTorch, by its autograd."""
    import torch  # noqa: PLC0415 - only where it is installed

    q, k, v, grad_output = (
        torch.from_numpy(array).double() for array in (given.q, given.k, given.v, given.grad_output)
    )
    leaves = [tensor.requires_grad_() for tensor in (q, k, v)]
    group, rows, keys = problem.heads // problem.key_heads, problem.seqlen_q, problem.seqlen_k
    k, v = (tensor.repeat_interleave(group, dim=1) for tensor in (k, v))
    scores = q @ k.transpose(-1, -2) * problem.softmax_scale
    if problem.causal:
        hidden = torch.ones(rows, keys, dtype=torch.bool).triu(keys - rows + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    output = scores.softmax(dim=-1) @ v
    return [gradient.numpy() for gradient in torch.autograd.grad(output, leaves, grad_output)]


@pytest.mark.parametrize("problem", [problem for problem in PROBLEMS if problem.head_dim in HEAD_DIMS])
def test_our_gradients_are_those_of_autograd(problem: Problem) -> None:
    given = saved(problem, make_inputs(problem, "cpu"))
    expected = in_float64(problem, given)
    for spec in CPU_KERNELS:
        found = attention_backward(
            *given, kernel=spec.name, causal=problem.causal, scale=problem.softmax_scale
        )
        for gradient, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(gradient, right, atol=2e-5 * np.abs(right).max() + 1e-7)


@each_peer
@each_problem
def test_a_peers_gradients_pass_the_criterion_of_our_own(spec: KernelSpec, problem: Problem) -> None:
    inputs, grad_output = make_inputs(problem, "cpu"), grad_output_of(problem)
    found = attention_backward(
        *inputs.qkv,
        output=grad_output,  # not used: a library keeps its own
        lse=None,
        grad_output=grad_output,
        kernel=spec.name,
        causal=problem.causal,
        scale=problem.softmax_scale,
    )
    verdict = gradient_criterion(problem, inputs, grad_output).judge(Gradients(*found))
    assert verdict.passed, verdict


@each_peer
def test_a_run_gives_the_same_again_after_its_results_were_released(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=20, seqlen_k=30, heads=2)
    launch: Any = prepare_backward(spec, problem, saved(problem, make_inputs(problem, "cpu")), "cpu")
    assert launch.gradients == (None, None, None)
    launch.run()
    first = [gradient.copy() for gradient in launch.gradients]
    launch.release()
    launch.run()
    for again, gradient in zip(launch.gradients, first, strict=True):
        np.testing.assert_array_equal(again, gradient)


@pytest.mark.parametrize("spec", [TORCH_EFFICIENT, TORCH_CUDNN], ids=lambda spec: spec.name)
def test_a_backend_that_the_dispatcher_refuses_is_unsupported(spec: KernelSpec) -> None:
    from flashscope.kernels.library import torch_backward  # noqa: PLC0415 - imports PyTorch

    problem = Problem(seqlen_q=16, seqlen_k=16)
    with pytest.raises(UnsupportedError, match=f"PyTorch refuses {spec.name}: No viable backend"):
        torch_backward.prepare(spec, problem, saved(problem, make_inputs(problem, "cpu")))


def test_the_dispatchers_choice_is_named() -> None:
    problem = Problem(seqlen_q=16, seqlen_k=16)
    launch: Any = prepare_backward(TORCH_AUTO, problem, saved(problem, make_inputs(problem, "cpu")), "cpu")
    assert launch.note.endswith("chose flash")


def test_rows_without_keys_are_refused_backward_too() -> None:
    problem = Problem(seqlen_q=20, seqlen_k=10, causal=True)
    with pytest.raises(UnsupportedError, match="at least as many keys"):
        prepare_backward(TORCH_FLASH, problem, saved(problem, make_inputs(problem, "cpu")), "cpu")
