"""Sequences of different lengths, and keys in pages: each sequence as if it were alone."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from flashscope.kernels import Problem, attention
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.launching.passes import draw_given, prepare_passes
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.layout import NO_PAGES
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.masked import brute_force
from tests.kernels.running import CPU_KERNELS, each_kernel, judge, run
from tests.kernels.uneven import alone, of_one_sequence, options, uneven_problems

DECODING = Problem(
    seqlen_q=3,
    seqlen_k=160,
    batch=4,
    heads=4,
    kv_heads=2,
    head_dim=16,
    causal=True,
    query_lengths=(1, 3, 0, 2),
    key_lengths=(160, 33, 64, 0),
    page_size=32,
)


@settings(max_examples=40, deadline=None)
@given(uneven_problems())
def test_each_sequence_has_the_bits_of_its_own_problem_and_padding_is_empty(problem: Problem) -> None:
    inputs = make_inputs(problem, "cpu")
    for spec in CPU_KERNELS:
        launch = run(spec, problem, inputs)
        expected, expected_lse = np.zeros_like(launch.output), np.full_like(launch.lse, -np.inf)
        for b, (rows, keys) in enumerate(zip(problem.row_counts, problem.key_counts, strict=True)):
            if rows and keys:
                own = prepare(spec, of_one_sequence(problem, rows, keys), alone(problem, inputs, b), "cpu")
                own.run()
                expected[b, :, :rows], expected_lse[b, :, :rows] = own.output[0], own.lse[0]
        np.testing.assert_array_equal(launch.output, expected)
        np.testing.assert_array_equal(launch.lse, expected_lse)


@pytest.mark.matrix  # it takes a second
@settings(max_examples=40, deadline=None)
@given(uneven_problems())
def test_every_kernel_agrees_with_the_oracle(problem: Problem) -> None:
    inputs = make_inputs(problem, "cpu")
    for spec in CPU_KERNELS:
        verdict = judge(spec, problem, inputs)
        assert verdict.passed, (spec.name, verdict)


@settings(max_examples=25, deadline=None)
@given(uneven_problems(longest=20))
def test_attention_takes_them_and_equals_the_definition(problem: Problem) -> None:
    inputs = make_inputs(problem, "cpu")
    asked = {**options(problem), "page_table": inputs.page_table, "kernel": "auto", "return_lse": True}
    output, lse = attention(*inputs.qkv, **asked)
    assert verify(problem, inputs, output, lse).passed
    for b, one in problem.sequences.items():
        expected, expected_lse = brute_force(one, alone(problem, inputs, b))
        np.testing.assert_allclose(output[b, :, : one.seqlen_q], expected[0], atol=1e-5)
        np.testing.assert_allclose(lse[b, :, : one.seqlen_q], expected_lse[0], atol=1e-5)


@each_kernel
def test_pages_change_no_bit(spec: KernelSpec) -> None:
    plain = Problem(seqlen_q=70, seqlen_k=256, batch=2, heads=2, head_dim=16, key_lengths=(200, 256))
    paged = Problem(**{**as_fields(plain), "page_size": 64})
    output, lse = outcome(spec, plain)
    for found, expected in zip(outcome(spec, paged), (output, lse), strict=True):
        np.testing.assert_array_equal(found, expected)


def as_fields(problem: Problem) -> dict[str, Any]:
    return {name: getattr(problem, name) for name in problem.__struct_fields__}


def outcome(spec: KernelSpec, problem: Problem) -> tuple[Any, Any]:
    launch = run(spec, problem, make_inputs(problem, "cpu"))
    return launch.output, launch.lse


@each_kernel
def test_sequences_may_share_pages_and_one_may_come_twice(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=5, seqlen_k=48, batch=2, heads=2, head_dim=16, page_size=16)
    drawn = make_inputs(problem, "cpu")
    table = np.array([[3, 1, 3], [1, 3, 0]], np.int32)
    inputs = Inputs(drawn.q, np.nan_to_num(drawn.k), np.nan_to_num(drawn.v), table)
    assert judge(spec, problem, inputs).passed


@each_kernel
def test_one_key_in_the_last_page_is_seen_and_the_rest_of_it_is_not(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=1, seqlen_k=48, heads=1, head_dim=16, key_lengths=(33,), page_size=16)
    inputs = make_inputs(problem, "cpu")
    last = inputs.page_table[0, 2]
    assert np.isnan(inputs.v[last, 0, 1:]).all()
    before = run(spec, problem, inputs).output.copy()
    inputs.v[last, 0, 0] += 1
    assert (run(spec, problem, inputs).output != before).all()


def test_what_is_drawn_is_poisoned_wherever_nothing_may_be_read() -> None:
    inputs = make_inputs(DECODING, "cpu")
    assert np.isnan(inputs.q[0, :, 1:]).all()
    assert np.isnan(inputs.q[2]).all()
    used = {
        int(page) for row, count in zip(inputs.page_table, (5, 2, 2, 0), strict=True) for page in row[:count]
    }
    assert len(used) == 9
    assert np.isnan(inputs.k[[page for page in range(DECODING.pages) if page not in used]]).all()
    assert set(inputs.page_table[3].tolist()) == set(NO_PAGES)
    assert DECODING.input_bytes == sum(array.nbytes for array in inputs.arrays.values())


def test_sequences_have_the_numbers_of_an_even_batch() -> None:
    drawn = make_inputs(DECODING, "cpu")
    even = make_inputs(of_even(DECODING), "cpu")
    np.testing.assert_array_equal(drawn.q[1], even.q[1])
    np.testing.assert_array_equal(alone(DECODING, drawn, 1).k[0], even.k[1, :, :33])


def of_even(problem: Problem) -> Problem:
    plain = {"query_lengths": None, "key_lengths": None, "page_size": None}
    return Problem(**{**as_fields(problem), **plain})


@each_kernel
@pytest.mark.parametrize("page_size", [None, 32])
def test_what_is_held_is_what_was_predicted(spec: KernelSpec, page_size: int | None) -> None:
    problem = Problem(**{**as_fields(DECODING), "page_size": page_size})
    given = draw_given(problem, "cpu")
    launch = prepare_passes(spec, problem, given, "cpu")
    held = given.nbytes + launch.answer().nbytes + launch.workspace_bytes
    assert held == spec.predicted_bytes(problem, "cpu")


@pytest.mark.parametrize(
    ("array", "place", "value"),
    [
        ("output", (2, 1, 2), 0.5),
        ("output", (3, 0, 0), np.nan),
        ("lse", (0, 3, 1), 0.0),
        ("output", (1, 0, 2), 0.0),
    ],
    ids=["padding", "NaN without keys", "LSE of padding", "a real row"],
)
def test_a_wrong_row_is_refused_also_in_padding(array: str, place: tuple[int, ...], value: float) -> None:
    inputs = make_inputs(DECODING, "cpu")
    launch = run(find_kernel("flash2"), DECODING, inputs)
    assert verify(DECODING, inputs, launch.output, launch.lse).passed
    getattr(launch, array)[place] = value
    verdict = verify(DECODING, inputs, launch.output, launch.lse)
    name = {"output": "O", "lse": "LSE"}[array]
    assert {one.output for one in verdict.outputs if not one.passed} == {name, f"{name} of a row"}


def test_the_worst_row_is_told_with_its_sequence_in_the_batch() -> None:
    inputs = make_inputs(DECODING, "cpu")
    launch = run(find_kernel("flash2"), DECODING, inputs)
    launch.output[1, 3, 2] += 1
    worst = verify(DECODING, inputs, launch.output, launch.lse).of("O of a row")
    assert worst is not None
    assert worst.place == (1, 3, 2)


def test_rows_are_counted_without_padding() -> None:
    inputs = make_inputs(DECODING, "cpu")
    launch = run(find_kernel("flash2"), DECODING, inputs)
    assert verify(DECODING, inputs, launch.output, launch.lse).rows == 4 * (1 + 3)
