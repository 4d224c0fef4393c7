"""`flashscope.kernels.attention` with a softcap, sinks, ALiBi's bias and values of another head dim."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels import Problem, attention, attention_backward, sink_gradient
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.tensors import Gradients
from tests.kernels import running_backward
from tests.kernels.running import each_kernel

PROBLEM = Problem(
    seqlen_q=40,
    seqlen_k=70,
    batch=2,
    heads=6,
    kv_heads=3,
    head_dim=16,
    head_dim_v=24,
    causal=True,
    softcap=2.0,
    sinks=True,
    alibi=True,
)
TERMS: dict[str, Any] = {"causal": True, "softcap": 2.0, "alibi": True}


@each_kernel
def test_all_terms_of_the_scores_are_taken_at_once(spec: KernelSpec) -> None:
    inputs = make_inputs(PROBLEM, "cpu")
    output, lse = attention(*inputs.qkv, kernel=spec.name, sinks=inputs.sinks, return_lse=True, **TERMS)
    assert output.shape == PROBLEM.o_shape
    assert verify(PROBLEM, inputs, output, lse).passed


@running_backward.each_kernel
def test_gradients_need_no_sinks_but_the_lse_that_holds_them(spec: KernelSpec) -> None:
    inputs = make_inputs(PROBLEM, "cpu")
    output, lse = attention(*inputs.qkv, kernel="flash2", sinks=inputs.sinks, return_lse=True, **TERMS)
    grad = np.random.default_rng(3).standard_normal(PROBLEM.o_shape, np.float32)
    found = attention_backward(*inputs.qkv, output, lse, grad, kernel=spec.name, **TERMS)
    assert gradient_criterion(PROBLEM, inputs, grad).judge(Gradients(*found)).passed


@pytest.mark.parametrize("layout", ["bhnd", "bnhd"])
def test_the_gradient_of_the_sinks_is_the_slope_of_the_loss(layout: Any) -> None:
    problem = replace(PROBLEM, head_dim_v=None)
    inputs = make_inputs(problem, "cpu")

    def turn(array: Any) -> Any:
        return array.swapaxes(1, 2) if layout == "bnhd" else array

    q, k, v = (turn(x) for x in inputs.qkv)
    grad = turn(np.random.default_rng(3).standard_normal(problem.o_shape, np.float32))

    def loss(sinks: Any) -> Any:
        output = attention(q, k, v, kernel="standard", layout=layout, sinks=sinks, **TERMS)
        return (output.astype(np.float64) * grad).sum()

    output, lse = attention(
        q, k, v, kernel="standard", layout=layout, sinks=inputs.sinks, return_lse=True, **TERMS
    )
    found = sink_gradient(inputs.sinks, output, lse, grad, layout=layout)
    assert found.dtype == np.float32
    for head, step in enumerate(np.eye(6, dtype=np.float32) * 0.05):
        slope = (loss(inputs.sinks + step) - loss(inputs.sinks - step)) / 0.1
        assert found[head] == pytest.approx(slope, rel=2e-2, abs=2e-3), head


def test_sequences_one_behind_the_other_take_them_too() -> None:
    starts = np.array([0, 30, 50], np.int32)
    rng = np.random.default_rng(0)
    q, k = (rng.standard_normal((50, heads, 16), np.float32) for heads in (4, 2))
    v, sinks = rng.standard_normal((50, 2, 8), np.float32), rng.standard_normal(4, np.float32)
    both: dict[str, Any] = {
        "cu_seqlens_q": starts,
        "cu_seqlens_k": starts,
        "max_seqlen_q": 30,
        "max_seqlen_k": 30,
    }
    output, lse = attention(q, k, v, layout="thd", sinks=sinks, return_lse=True, **both, **TERMS)
    assert output.shape == (50, 4, 8)
    grad = rng.standard_normal(output.shape, np.float32)
    gradient = 0.0
    for part in (slice(30), slice(30, 50)):
        own = [x[None, part].swapaxes(1, 2) for x in (q, k, v)]
        alone, alone_lse = attention(*own, sinks=sinks, return_lse=True, **TERMS)
        np.testing.assert_allclose(output[None, part].swapaxes(1, 2), alone, rtol=1e-6, atol=1e-6)
        gradient = gradient + sink_gradient(sinks, alone, alone_lse, grad[None, part].swapaxes(1, 2))
    np.testing.assert_allclose(
        sink_gradient(sinks, output, lse, grad, layout="thd"), gradient, rtol=1e-4, atol=1e-5
    )


def test_padding_adds_nothing_to_the_gradient_of_the_sinks() -> None:
    q = np.random.default_rng(0).standard_normal((1, 2, 9, 16), np.float32)
    sinks = np.zeros(2, np.float32)
    output, lse = attention(q, q, q, sinks=sinks, query_lengths=(5,), return_lse=True)
    grad = np.full_like(output, np.nan)
    grad[:, :, :5] = 1.0
    grad[:, :, 5:] = 0.0
    short, short_lse = output[:, :, :5], lse[:, :, :5]
    whole = sink_gradient(sinks, output, lse, grad)
    np.testing.assert_array_equal(whole, sink_gradient(sinks, short, short_lse, grad[:, :, :5]))


Q = np.ones((1, 4, 8, 16), np.float32)
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a softcap of text": ({"softcap": "50"}, "softcap must be a finite number or None, not '50'"),
    "a softcap of nothing": ({"softcap": 0.0}, "softcap must be from 0.001 to 1e"),
    "a bias of numbers": ({"alibi": 2}, "alibi must be True or False, not 2"),
    "sinks of half the heads": (
        {"sinks": np.ones(2, np.float32)},
        "sinks must be float32 .4,., not float32 .2,.",
    ),
    "sinks of another dtype": ({"sinks": np.ones(4)}, "sinks must be float32 .4,., not float64 .4,."),
    "sinks that are a list": ({"sinks": [0.0] * 4}, "sinks must be a NumPy array .CPU., a CuPy array"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_accepted_is_told(case: str) -> None:
    options, said = WRONG[case]
    with pytest.raises(InputError, match=said):
        attention(Q, Q, Q, **options)


def test_gradients_want_o_with_the_head_dim_of_v() -> None:
    v = np.ones((1, 4, 8, 24), np.float32)
    lse = np.zeros((1, 4, 8), np.float32)
    with pytest.raises(InputError, match=r"output must have the shape of q and the head_dim of v"):
        attention_backward(Q, Q, v, Q, lse, Q)
    with pytest.raises(InputError, match=r"q and k must have the same head_dim"):
        attention(Q, v, v)


def test_a_function_that_names_no_such_keyword_is_not_given_the_problem() -> None:
    def mine(q: Any, k: Any, v: Any, *, causal: bool, scale: float) -> Any:
        raise AssertionError

    for options in ({"softcap": 5.0}, {"alibi": True}, {"sinks": np.ones(4, np.float32)}):
        with pytest.raises(UnsupportedError):
            attention(Q, Q, Q, kernel=mine, **options)
