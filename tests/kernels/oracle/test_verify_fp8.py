"""The judge of a kernel in 8 bits: it lets 8 bits pass, says what they cost, and lets no mistake pass."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.oracle.verdict import ON_ROUNDED
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cases import draw

ROUNDING = Rounding(96)
PROBLEM = Problem(seqlen_q=150, seqlen_k=333, heads=2, head_dim=64)


def answer(problem: Problem, inputs: Inputs) -> tuple[Any, Any]:
    """What a right kernel in 8 bits returns; its maxima run, so that P rounds elsewhere than in the judge."""
    q, k, v = ROUNDING.inputs(*inputs.qkv)
    scale = problem.softmax_scale * ROUNDING.score_factor(problem.head_dim)
    _, lse = attention_reference(q, k, v, causal=problem.causal, scale=scale)
    s = q @ np.swapaxes(k, -1, -2) * scale
    if problem.causal:
        s[..., np.triu(np.ones(s.shape[-2:], bool), 1 + s.shape[-1] - s.shape[-2])] = -np.inf
    p = np.exp(s - s.max(axis=-1, keepdims=True)) * np.float32(0.7)
    return ROUNDING.weights(p) @ v / p.sum(axis=-1, keepdims=True), lse.astype(np.float32)


@pytest.mark.parametrize("causal", [False, True])
def test_eight_bits_pass_and_say_what_they_cost(causal: bool) -> None:
    problem = msgspec.structs.replace(PROBLEM, causal=causal)
    inputs = draw(problem)
    verdict = verify(problem, inputs, *answer(problem, inputs), rounding=ROUNDING)
    assert verdict.passed
    given, rounded = verdict.of("O"), verdict.of("O" + ON_ROUNDED)
    assert given is not None
    assert rounded is not None
    assert 0 < rounded.error <= rounded.bound < given.bound
    assert rounded.error < given.error <= given.bound


def test_eight_bits_do_not_pass_as_full_precision() -> None:
    inputs = draw(PROBLEM)
    verdict = verify(PROBLEM, inputs, *answer(PROBLEM, inputs))
    assert not verdict.passed
    assert verdict.of("O" + ON_ROUNDED) is None


def lose_the_last_tile(inputs: Inputs) -> Inputs:
    return Inputs(inputs.q, inputs.k[:, :, :-13], inputs.v[:, :, :-13])


def swap_two_keys(inputs: Inputs) -> Inputs:
    keys = inputs.k.copy()
    keys[:, :, [100, 101]] = keys[:, :, [101, 100]]
    return inputs._replace(k=keys)


def mistake_a_head(inputs: Inputs) -> Inputs:
    return inputs._replace(v=inputs.v[:, ::-1].copy())


@pytest.mark.parametrize("mistake", [lose_the_last_tile, swap_two_keys, mistake_a_head])
def test_a_mistake_never_passes(mistake: Callable[[Inputs], Inputs]) -> None:
    inputs = draw(PROBLEM)
    assert not verify(PROBLEM, inputs, *answer(PROBLEM, mistake(inputs)), rounding=ROUNDING).passed


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, 1.0])
def test_a_spoilt_element_never_passes(spoilt: float) -> None:
    inputs = draw(PROBLEM)
    output, lse = answer(PROBLEM, inputs)
    output[0, 1, 149, 63] = spoilt
    assert not verify(PROBLEM, inputs, output, lse, rounding=ROUNDING).passed


def test_lse_is_held_to_what_the_tensor_cores_keep() -> None:
    inputs = draw(PROBLEM)
    output, lse = answer(PROBLEM, inputs)
    assert verify(PROBLEM, inputs, output, lse + np.float32(5e-4), rounding=ROUNDING).passed
    assert not verify(PROBLEM, inputs, output, lse + np.float32(0.05), rounding=ROUNDING).passed
