"""Layouts and strides: the same numbers give the same bits, and results come in the layout that was named."""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings

from flashscope.kernels import attention, attention_backward
from flashscope.kernels.catalogue.ladder import FLASH1, FLASH2, STANDARD
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cases import draw
from tests.kernels.masked import masked_problems
from tests.kernels.running_backward import grad_output_of
from tests.kernels.surface.laid import LAYOUTS, Laid, joined, joined_inputs, joined_problems, masks, offsets

IN_PLACE = (STANDARD, FLASH1, FLASH2)
BY_COPY = replace(FLASH2, strided=frozenset())  # as the CUDA kernels are: it reads row-major arrays alone
each_kernel = pytest.mark.parametrize("spec", IN_PLACE, ids=lambda spec: spec.name)


def same(found: Any, expected: Any) -> None:
    """To the bit; signs of zeros aside."""
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def alone_in(array: Any, span: slice) -> Any:
    """Some tokens as the only sequence of a batch."""
    return array[span].swapaxes(0, 1)[None].copy()


@each_kernel
@settings(max_examples=25)
@given(problem=masked_problems(), laid=LAYOUTS)
def test_every_layout_gives_the_bits_of_the_plain_one(spec: KernelSpec, problem: Problem, laid: Laid) -> None:
    inputs = draw(problem)
    asked: dict[str, Any] = {"kernel": spec, **masks(problem), "return_lse": True}
    expected = attention(*inputs.qkv, **asked)
    q, k, v = map(laid.of, inputs.qkv)
    output, lse = attention(q, k, v, layout=laid.layout, **asked)
    assert output.flags.c_contiguous
    same((laid.back(output), lse), expected)


@each_kernel
@settings(max_examples=15)
@given(problem=masked_problems(), laid=LAYOUTS)
def test_every_layout_gives_the_bits_of_the_plain_gradients(
    spec: KernelSpec, problem: Problem, laid: Laid
) -> None:
    inputs, grad_output = draw(problem), grad_output_of(problem)
    asked: dict[str, Any] = {"kernel": spec, **masks(problem)}
    output, lse = attention(*inputs.qkv, **asked, return_lse=True)
    expected = attention_backward(*inputs.qkv, output, lse, grad_output, **asked)
    q, k, v, o, do = map(laid.of, (*inputs.qkv, output, grad_output))
    found = attention_backward(q, k, v, o, lse, do, layout=laid.layout, **asked)
    assert all(gradient.flags.c_contiguous for gradient in found)
    same(map(laid.back, found), expected)


@each_kernel
@settings(max_examples=10)
@given(problem=masked_problems())
def test_strides_without_a_contiguous_axis_are_read_too(spec: KernelSpec, problem: Problem) -> None:
    inputs, laid = draw(problem), Laid("bnhd", "reversed")
    output, lse = attention(
        *map(laid.of, inputs.qkv), layout="bnhd", kernel=spec, **masks(problem), return_lse=True
    )
    assert verify(problem, inputs, laid.back(output), lse).passed


@each_kernel
@settings(max_examples=25)
@given(problem=joined_problems())
def test_sequences_one_behind_the_other_give_the_bits_of_each_by_itself(
    spec: KernelSpec, problem: Problem
) -> None:
    inputs = draw(problem)
    lengths: dict[str, Any] = {"query_lengths": problem.row_counts, "key_lengths": problem.key_counts}
    asked: dict[str, Any] = {"kernel": spec, **masks(problem), "return_lse": True}
    output, lse = attention(*inputs.qkv, **(asked | lengths))
    joint = joined_inputs(problem, inputs)
    found, found_lse = attention(*joint, **(asked | offsets(problem)))
    assert found.flags.c_contiguous
    assert found_lse.shape == (problem.heads, len(joint[0]))
    rows = problem.row_counts
    same((found, found_lse), (joined(output, rows), joined(lse[..., None], rows)[..., 0].T))


@each_kernel
@settings(max_examples=15)
@given(problem=joined_problems())
def test_gradients_of_sequences_one_behind_the_other_are_those_of_each_by_itself(
    spec: KernelSpec, problem: Problem
) -> None:
    inputs, grad_output = draw(problem), grad_output_of(problem)
    rows, keys = problem.row_counts, problem.key_counts
    q, k, v = joined_inputs(problem, inputs)
    do = joined(grad_output, rows)
    asked: dict[str, Any] = {"kernel": spec, **masks(problem)}
    output, lse = attention(q, k, v, **asked, **offsets(problem), return_lse=True)
    dq, dk, dv = attention_backward(q, k, v, output, lse, do, **(asked | offsets(problem)))
    ends_q, ends_k = np.cumsum(rows), np.cumsum(keys)
    for count, of_keys, end_q, end_k in zip(rows, keys, ends_q, ends_k, strict=True):
        of_q, of_k = slice(end_q - count, end_q), slice(end_k - of_keys, end_k)
        if not count or not of_keys:
            assert not dq[of_q].any()
            assert not dk[of_k].any()
            assert not dv[of_k].any()
            continue
        one = [alone_in(array, of_q) for array in (q, output, do)]
        own_k, own_v = (alone_in(array, of_k) for array in (k, v))
        own_lse = lse[:, of_q][None]
        alone = attention_backward(one[0], own_k, own_v, one[1], own_lse, one[2], **asked)
        same((dq[of_q], dk[of_k], dv[of_k]), (gradient[0].swapaxes(0, 1) for gradient in alone))


@settings(max_examples=20)
@given(problem=joined_problems())
def test_a_kernel_that_reads_copies_takes_all_sequences_padded_and_gives_the_same_bits(
    problem: Problem,
) -> None:
    joint = joined_inputs(problem, draw(problem))
    asked: dict[str, Any] = {**masks(problem), **offsets(problem), "return_lse": True}
    expected = attention(*joint, kernel=FLASH2, **asked)
    found = attention(*joint, kernel=BY_COPY, copy=True, **asked)
    assert all(array.flags.c_contiguous for array in found)
    same(found, expected)


@settings(max_examples=20)
@given(problem=masked_problems(), laid=LAYOUTS)
def test_what_is_copied_gives_the_same_bits_in_both_passes(problem: Problem, laid: Laid) -> None:
    inputs, grad_output = draw(problem), grad_output_of(problem)
    asked: dict[str, Any] = {**masks(problem), "layout": laid.layout}
    q, k, v, do = map(laid.of, (*inputs.qkv, grad_output))
    output, lse = attention(q, k, v, kernel=FLASH2, **asked, return_lse=True)
    found = attention(q, k, v, kernel=BY_COPY, copy=True, **asked, return_lse=True)
    assert found[0].flags.c_contiguous
    same(found, (output, lse))
    given = q, k, v, output, lse, do
    same(
        attention_backward(*given, kernel=BY_COPY, copy=True, **asked),
        attention_backward(*given, kernel=FLASH2, **asked),
    )


def test_a_slice_of_a_packed_qkv_is_read_where_it_lies() -> None:
    qkv = np.random.default_rng(0).standard_normal((2, 33, 3, 4, 16), dtype=np.float32)
    q, k, v = (qkv[:, :, one] for one in range(3))
    output = attention(q, k, v, layout="bnhd", causal=True)
    plain = [np.ascontiguousarray(array.swapaxes(1, 2)) for array in (q, k, v)]
    np.testing.assert_array_equal(output.swapaxes(1, 2), attention(*plain, causal=True))


def test_pages_lie_in_the_layout_too() -> None:
    problem = Problem(seqlen_q=5, seqlen_k=32, batch=2, heads=4, kv_heads=2, head_dim=16, page_size=16)
    q = draw(msgspec.structs.replace(problem, page_size=None)).q
    pool = np.random.default_rng(1).standard_normal((2, 4, 2, 16, 16), dtype=np.float32)
    table = np.array([[0, 3], [2, 1]], np.int32)
    expected = attention(q, *pool, page_table=table)
    laid = Laid("bnhd", "row-major")
    found = attention(*map(laid.of, Inputs(q, *pool).qkv), page_table=table, layout="bnhd")
    np.testing.assert_array_equal(laid.back(found), expected)


def test_neighbours_of_one_length_are_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    from flashscope.kernels.cpu import flash2  # noqa: PLC0415 - its own name, which is replaced

    batches, prepare = [], flash2.prepare

    def counted(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Any:
        batches.append(problem.batch)
        return prepare(spec, problem, inputs)

    monkeypatch.setattr(flash2, "prepare", counted)
    problem = Problem(
        seqlen_q=9,
        seqlen_k=9,
        batch=6,
        head_dim=16,
        query_lengths=(9, 9, 9, 4, 0, 4),
        key_lengths=(9, 9, 9, 4, 0, 4),
    )
    x = joined(draw(problem).q, problem.row_counts)
    attention(x, x, x, kernel="flash2", **offsets(problem))
    assert batches == [3, 1, 1]


ROW_MAJOR = r"must be contiguous \(row-major\) as \(batch, heads, seqlen, head_dim\) for flash2 on cpu"


@pytest.mark.parametrize("name", ["q", "k", "v"])
def test_a_view_that_the_kernel_cannot_read_is_refused_with_its_name_and_the_remedy(name: str) -> None:
    arrays: dict[str, Any] = dict.fromkeys("qkv", np.ones((1, 2, 8, 16), np.float32))
    arrays[name] = np.ones((1, 2, 16, 16), np.float32)[:, :, ::2]
    with pytest.raises(InputError, match=rf"^{name} {ROW_MAJOR}, .* copy=True copies it\.$"):
        attention(**arrays, kernel=BY_COPY)
    assert attention(**arrays, kernel=BY_COPY, copy=True).shape == arrays["q"].shape


def test_what_a_backward_pass_cannot_read_is_refused_likewise() -> None:
    x, lse = np.ones((1, 8, 8, 16), np.float32), np.ones((1, 8, 16), np.float32)[..., ::2]
    with pytest.raises(InputError, match=r"^lse must be contiguous .* as \(batch, heads, Nq\) for flash2"):
        attention_backward(x, x, x, x, lse, x, kernel=BY_COPY)
    with pytest.raises(InputError, match=rf"^q {ROW_MAJOR}"):
        attention_backward(x, x, x, x, lse, x, kernel=BY_COPY, layout="bnhd")
    assert len(attention_backward(x, x, x, x, lse, x, kernel=BY_COPY, copy=True)) == 3
