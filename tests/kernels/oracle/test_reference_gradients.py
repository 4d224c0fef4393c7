"""The oracle of the gradients, against numerical differentiation of the oracle of the forward pass."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from flashscope.kernels.oracle import reference
from flashscope.kernels.oracle.reference import Scoring, attention_reference
from flashscope.kernels.oracle.reference_gradients import gradients_reference
from flashscope.kernels.workload.layout import draw_sinks
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cases import draw
from tests.kernels.masked import masked_problems
from tests.kernels.scored import scored

STEP = 1e-4  # of a central difference in float64: its error is about STEP^2


def options(problem: Problem) -> dict[str, Any]:
    return {
        "causal": problem.causal,
        "window": problem.window,
        "block_mask": problem.block_mask,
        "scale": problem.softmax_scale,
        "scoring": Scoring.of(problem, Inputs(None, None, None, sinks=draw_sinks(problem))),
    }


def drawn(problem: Problem) -> tuple[Inputs, Any]:
    """Q, K, V and dO, float64."""
    inputs = Inputs(*(array.astype(np.float64) for array in draw(problem).qkv))
    return inputs, np.random.default_rng(problem.seed + 1).standard_normal(problem.o_shape)


@settings(max_examples=60, deadline=None)
@given(masked_problems(longest=24) | scored(masked_problems(longest=24)))
def test_a_step_along_any_direction_changes_the_loss_as_the_gradients_say(problem: Problem) -> None:
    """The loss is sum(dO O); its slope along a direction is the direction's product with the gradients."""
    inputs, grad_output = drawn(problem)
    gradients = gradients_reference(*inputs.qkv, grad_output, **options(problem))
    rng = np.random.default_rng(problem.seed + 2)
    for place, gradient in enumerate(gradients):
        direction = rng.standard_normal(gradient.shape)
        ahead, behind = (
            attention_reference(
                *(x + way * STEP * direction if i == place else x for i, x in enumerate(inputs.qkv)),
                **options(problem),
            )[0]
            for way in (1, -1)
        )
        slope = ((ahead - behind) * grad_output).sum() / (2 * STEP)
        size = np.abs(gradient * direction).sum() + np.abs(grad_output).sum()
        assert abs(slope - (gradient * direction).sum()) <= 1e-6 * size


@pytest.mark.parametrize("causal", [False, True])
def test_every_single_element_agrees_with_its_own_difference(causal: bool) -> None:
    problem = Problem(seqlen_q=5, seqlen_k=4, heads=2, kv_heads=1, head_dim=3, causal=causal, scale=0.7)
    inputs, grad_output = drawn(problem)
    gradients = gradients_reference(*inputs.qkv, grad_output, **options(problem))
    for place, gradient in enumerate(gradients):
        for index in np.ndindex(gradient.shape):
            losses = []
            for way in (1, -1):
                moved = [array.copy() for array in inputs.qkv]
                moved[place][index] += way * STEP
                output, _ = attention_reference(*moved, **options(problem))
                losses.append((output * grad_output).sum())
            assert gradient[index] == pytest.approx((losses[0] - losses[1]) / (2 * STEP), abs=1e-6)


def test_rows_without_keys_and_keys_without_rows_have_no_gradient() -> None:
    problem = Problem(seqlen_q=9, seqlen_k=6, head_dim=4, causal=True, window=(1, 0))
    inputs, grad_output = drawn(problem)
    dq, _, _ = gradients_reference(*inputs.qkv, grad_output, **options(problem))
    assert (dq[:, :, :3] == 0).all()
    short = Inputs(inputs.q[:, :, :2], inputs.k, inputs.v)
    _, dk, dv = gradients_reference(*short.qkv, grad_output[:, :, :2], **options(problem))
    assert (dk[:, :, :3] == 0).all()
    assert (dv[:, :, :3] == 0).all()
    assert (dv[:, :, 3:] != 0).any(axis=-1).all()


def test_cutting_the_rows_into_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(seqlen_q=50, seqlen_k=40, heads=2, kv_heads=1, head_dim=16, causal=True)
    inputs, grad_output = drawn(problem)
    whole = gradients_reference(*inputs.qkv, grad_output, **options(problem))
    monkeypatch.setattr(reference, "CHUNK_BYTES", 7 * 40 * 8)
    for one, other in zip(
        gradients_reference(*inputs.qkv, grad_output, **options(problem)), whole, strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
