"""The judge: it must let rounding pass and nothing else."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.oracle.verify import sample_rows, storage_dtype, verify
from flashscope.kernels.workload.problem import DTYPES, Dtype, Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cases import draw

PROBLEM = Problem(seqlen_q=120, seqlen_k=100, heads=2, head_dim=32, causal=True)


def answer(problem: Problem, inputs: Inputs) -> tuple[Any, Any]:
    """The oracle's O and LSE, rounded once to what a kernel returns."""
    output, lse = attention_reference(*inputs.qkv, causal=problem.causal, scale=problem.softmax_scale)
    return output.astype(storage_dtype(problem.dtype)), lse.astype(np.float32)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_rounded_truth_passes(dtype: Dtype) -> None:
    problem = msgspec.structs.replace(PROBLEM, dtype=dtype)
    inputs = Inputs(*(a.astype(storage_dtype(dtype)) for a in draw(problem).qkv))
    verdict = verify(problem, inputs, *answer(problem, inputs))
    assert verdict.passed
    assert verdict.rows == 240
    assert [one.output for one in verdict.outputs] == ["O", "LSE", "O of a row", "LSE of a row"]
    assert 0 < verdict.outputs[0].error < verdict.outputs[0].bound


def swap_two_rows(output: Any, lse: Any) -> None:
    output[0, 0, [60, 61]] = output[0, 0, [61, 60]]


def forget_one_element(output: Any, lse: Any) -> None:
    output[0, 1, 119, 31] = 0


def leave_a_nan(output: Any, lse: Any) -> None:
    output[0, 0, 77, 3] = np.nan


def overflow(output: Any, lse: Any) -> None:
    output[0, 0, 77, 3] = np.inf


def lose_precision(output: Any, lse: Any) -> None:
    output[:] = output.astype(np.float16)


def lse_in_base_two(output: Any, lse: Any) -> None:
    lse *= np.float32(np.log2(np.e))


def nan_in_lse(output: Any, lse: Any) -> None:
    lse[0, 0, 50] = np.nan


def finite_lse_where_no_key_is_kept(output: Any, lse: Any) -> None:
    lse[0, 0, 0] = -1e30


def no_key_kept_where_one_is(output: Any, lse: Any) -> None:
    lse[0, 0, 119] = -np.inf


def positive_infinity(output: Any, lse: Any) -> None:
    lse[0, 0, 0] = np.inf


def nan_where_no_key_is_kept(output: Any, lse: Any) -> None:
    output[0, 0, 0] = np.nan


@pytest.mark.parametrize(
    "spoil",
    [
        swap_two_rows,
        forget_one_element,
        leave_a_nan,
        overflow,
        lose_precision,
        lse_in_base_two,
        nan_in_lse,
        finite_lse_where_no_key_is_kept,
        no_key_kept_where_one_is,
        positive_infinity,
        nan_where_no_key_is_kept,
    ],
)
def test_a_spoilt_answer_never_passes(spoil: Callable[[Any, Any], None]) -> None:
    inputs = draw(PROBLEM)
    output, lse = answer(PROBLEM, inputs)
    spoil(output, lse)
    assert not verify(PROBLEM, inputs, output, lse).passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("change", [{"scale": 0.18}, {"causal": False}])
def test_the_answer_to_another_problem_never_passes(dtype: Dtype, change: dict[str, Any]) -> None:
    problem = msgspec.structs.replace(PROBLEM, dtype=dtype)
    inputs = Inputs(*(a.astype(storage_dtype(dtype)) for a in draw(problem).qkv))
    other = msgspec.structs.replace(problem, **change)
    assert not verify(problem, inputs, *answer(other, inputs)).passed


def test_a_mask_aligned_to_the_top_left_never_passes() -> None:
    problem = msgspec.structs.replace(PROBLEM, seqlen_q=90)
    inputs = draw(problem)
    square = msgspec.structs.replace(problem, seqlen_k=90)
    top_left = Inputs(inputs.q, inputs.k[:, :, :90], inputs.v[:, :, :90])
    assert not verify(problem, inputs, *answer(square, top_left)).passed


def test_the_drift_of_one_long_running_sum_passes() -> None:
    problem = Problem(seqlen_q=8, seqlen_k=60_000, head_dim=16, scale=1e-3)
    inputs = draw(problem)
    output, _ = answer(problem, inputs)
    weights = np.exp(np.einsum("bhqd,bhkd->bhqk", inputs.q, inputs.k) * np.float32(1e-3))
    running = np.log(np.cumsum(weights, axis=-1, dtype=np.float32)[..., -1])
    assert verify(problem, inputs, output, running).passed
    assert not verify(problem, inputs, output, running + np.float32(1e-3)).passed


def test_a_large_problem_is_judged_by_a_sample_of_rows() -> None:
    problem = Problem(seqlen_q=3000, seqlen_k=50, heads=2, head_dim=16)
    inputs = draw(problem)
    output, lse = answer(problem, inputs)
    verdict = verify(problem, inputs, output, lse, max_rows=100)
    assert verdict.passed
    assert verdict.rows <= 200
    output[0, 1, -1, 0] += 1
    assert not verify(problem, inputs, output, lse, max_rows=100).passed


@given(
    st.builds(
        Problem, seqlen_q=st.integers(1, 200_000), seqlen_k=st.integers(1, 200_000), causal=st.booleans()
    ),
    st.integers(32, 300),
)
def test_sampled_rows_are_few_sorted_unique_and_hold_the_ends_and_tile_edges(
    problem: Problem, max_rows: int
) -> None:
    rows = sample_rows(problem, max_rows)
    assert rows == sorted(set(rows)) == sample_rows(problem, max_rows)
    assert len(rows) <= max_rows
    last_tile = (problem.seqlen_q - 1) // 64 * 64
    edges = {0, problem.seqlen_q - 1, 63, 64, 127, 128, last_tile - 1, last_tile}
    assert {e for e in edges if 0 <= e < problem.seqlen_q} <= set(rows)
    if problem.causal and problem.seqlen_q > problem.seqlen_k:
        assert problem.seqlen_q - problem.seqlen_k in rows
