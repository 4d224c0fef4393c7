"""`flashscope.kernels.attention_backward`: right gradients, one clear sentence for every wrong question."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from flashscope.kernels import attention, attention_backward, choose_backward
from flashscope.kernels.catalogue.ladder import FLASH2
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients
from tests.kernels.cases import draw, in_mode
from tests.kernels.masked import masked_problems
from tests.kernels.running_backward import CPU_KERNELS, grad_output_of
from tests.kernels.surface.test_forward import Jax, OnGpu

Q, LSE = np.ones((2, 4, 5, 16), np.float32), np.ones((2, 4, 5), np.float32)
KV = np.ones((2, 2, 7, 16), np.float32)
GOOD: dict[str, Any] = {
    "q": Q,
    "k": KV,
    "v": KV,
    "output": Q,
    "lse": LSE,
    "grad_output": Q,
    "kernel": "flash2",
}


@settings(max_examples=30, deadline=None)
@given(masked_problems())
def test_the_gradients_of_our_own_forward_pass_are_right_under_every_mask(problem: Problem) -> None:
    inputs, grad_output = draw(problem), grad_output_of(problem)
    masks: dict[str, Any] = {
        "causal": problem.causal,
        "window": problem.window,
        "block_mask": problem.block_mask,
    }
    output, lse = attention(*inputs.qkv, kernel="flash2", **masks, return_lse=True)
    for kernel in ("auto", *(spec.name for spec in CPU_KERNELS)):
        gradients = attention_backward(*inputs.qkv, output, lse, grad_output, kernel=kernel, **masks)
        assert [gradient.shape for gradient in gradients] == [array.shape for array in inputs.qkv]
        assert gradient_criterion(problem, inputs, grad_output).judge(Gradients(*gradients)).passed


def test_a_kernel_without_a_backward_pass_says_so() -> None:
    for name in (spec.name for spec in KERNELS if spec.backward is None):
        with pytest.raises(UnsupportedError, match=rf"(?i){name} has no backward pass\."):
            attention_backward(**GOOD | {"kernel": name})


def test_auto_is_the_first_kernel_whose_backward_pass_takes_the_problem() -> None:
    problem = Problem(seqlen_q=40, seqlen_k=40, head_dim=16)
    assert choose_backward(problem, describe()).name == "flash2"
    assert choose_backward(in_mode(problem), describe()).name == "flash2"
    with pytest.raises(
        UnsupportedError, match=r"flash3's backward pass is not implemented on the cpu .*not 20"
    ):
        choose_backward(Problem(seqlen_q=4, seqlen_k=4, head_dim=20), describe())


def test_what_a_backward_pass_does_not_take_is_told_with_its_name() -> None:
    gpu = Device(backend="cuda", name="a GPU", memory_bytes=2**34, compute_capability=(9, 0))
    problem = Problem(seqlen_q=40, seqlen_k=40, head_dim=20)
    said = FLASH2.unsupported_backward(problem, describe())
    assert said == "flash2's backward pass takes head dims 16 to 256 in steps of 8 on cpu, not 20"
    assert "flash2's backward pass" in str(FLASH2.unsupported_backward(problem, gpu))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"q": np.ones((5, 16), np.float32)}, "q must have 4 axes"),
        ({"k": KV[:, :1]}, "the same heads"),
        (
            {"output": Q[:, :, :4].copy()},
            r"output must have the shape of q .* \(2, 4, 5, 16\), not \(2, 4, 4, 16\)",
        ),
        (
            {"grad_output": KV},
            r"grad_output must have the shape of q .* \(2, 4, 5, 16\), not \(2, 2, 7, 16\)",
        ),
        (
            {"grad_output": Q.astype(np.float16)},
            "q, output and grad_output must share one dtype, not float32 and",
        ),
        ({"output": Jax()}, "output must be a NumPy array .* not jax.Array"),
        ({"grad_output": OnGpu()}, "lse and grad_output must all be NumPy arrays, all be CuPy arrays or all"),
        ({"lse": OnGpu()}, "must all be NumPy arrays, all be CuPy arrays or all be PyTorch tensors"),
        (
            {"lse": LSE[:, :2].copy()},
            r"lse must be float32 of shape \(batch, heads, Nq\) = \(2, 4, 5\)",
        ),
        ({"lse": LSE.astype(np.float64)}, "lse must be float32 .* not float64"),
        ({"lse": None}, "lse must be given"),
        ({"kernel": "flash9"}, "kernel must be one of auto, standard"),
        ({"scale": float("nan")}, "scale must be a finite number"),
        ({"window": (4,)}, "window must be two whole numbers"),
        ({"block_mask": 1}, "block_mask must be a BlockMask"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_question_is_answered_with_what_is_accepted(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        attention_backward(**GOOD | changed)
    assert "\n" not in str(caught.value)
