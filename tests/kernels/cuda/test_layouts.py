"""CuPy arrays of other layouts: refused, or copied with the bits of row-major ones."""

from typing import Any

import msgspec
import numpy as np
import pytest

from flashscope.kernels import attention, attention_backward
from flashscope.kernels.launching.launch import make_grad_output, make_inputs
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from tests.kernels.surface.laid import offsets

pytestmark = pytest.mark.gpu
PROBLEM = Problem(seqlen_q=90, seqlen_k=120, batch=2, heads=4, kv_heads=2, dtype="bfloat16", causal=True)
each_dtype = pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])


def bits(array: Any) -> Any:
    """An array's bytes in host memory: CuPy does not compare every dtype."""
    return row_major(array).view("uint8").get()


def row_major(array: Any) -> Any:
    return array.view(f"uint{8 * array.itemsize}").copy(order="C").view(array.dtype)


def same(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(bits(one), bits(other))


@each_dtype
def test_another_layout_is_refused_or_copied_with_the_same_bits(cp: Any, dtype: Any) -> None:
    problem = msgspec.structs.replace(PROBLEM, dtype=dtype)
    inputs = make_inputs(problem, "cuda")
    expected = attention(*inputs.qkv, causal=True, return_lse=True)
    q, k, v = (array.swapaxes(1, 2) for array in inputs.qkv)
    again = attention(q, k, v, layout="bnhd", causal=True, return_lse=True)  # in memory nothing has moved
    same((again[0].swapaxes(1, 2), again[1]), expected)
    q, k, v = map(row_major, (q, k, v))
    with pytest.raises(InputError, match=r"^q must be contiguous .* on cuda, .* copy=True copies it\.$"):
        attention(q, k, v, layout="bnhd", causal=True)
    output, lse = attention(q, k, v, layout="bnhd", causal=True, copy=True, return_lse=True)
    assert output.flags.c_contiguous
    same((output.swapaxes(1, 2), lse), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_of_another_layout_have_the_same_bits(cp: Any, dtype: Any) -> None:
    problem = msgspec.structs.replace(PROBLEM, dtype=dtype)
    inputs = make_inputs(problem, "cuda")
    grad_output = make_grad_output(msgspec.structs.replace(problem, passes="backward"), "cuda")
    output, lse = attention(*inputs.qkv, causal=True, return_lse=True)
    given = *inputs.qkv, output, lse, grad_output
    expected = attention_backward(*given, causal=True, deterministic=True)
    q, k, v, o, do = (row_major(array.swapaxes(1, 2)) for array in (*inputs.qkv, output, grad_output))
    found = attention_backward(q, k, v, o, lse, do, layout="bnhd", causal=True, copy=True, deterministic=True)
    assert all(gradient.flags.c_contiguous for gradient in found)
    same((gradient.swapaxes(1, 2) for gradient in found), expected)


@each_dtype
@pytest.mark.parametrize("on_host", [False, True])
def test_sequences_one_behind_the_other_have_the_bits_of_a_padded_batch(
    cp: Any, dtype: Any, on_host: bool
) -> None:
    rows, keys = (40, 0, 17, 90), (90, 5, 0, 64)
    problem = msgspec.structs.replace(
        PROBLEM, batch=4, seqlen_q=90, seqlen_k=90, dtype=dtype, query_lengths=rows, key_lengths=keys
    )
    inputs = make_inputs(problem, "cuda")
    padded = attention(*inputs.qkv, causal=True, return_lse=True, query_lengths=rows, key_lengths=keys)

    def joined(array: Any, counts: tuple[int, ...]) -> Any:
        whole = array.view(f"uint{8 * array.itemsize}").swapaxes(1, 2)
        return cp.concatenate([one[:count] for one, count in zip(whole, counts, strict=True)]).view(
            array.dtype
        )

    joint = joined(inputs.q, rows), joined(inputs.k, keys), joined(inputs.v, keys)
    asked = offsets(problem)
    if not on_host:
        asked |= {name: cp.asarray(asked[name]) for name in ("cu_seqlens_q", "cu_seqlens_k")}
    with pytest.raises(InputError, match="copy=True copies it"):
        attention(*joint, causal=True, **asked)
    output, lse = attention(*joint, causal=True, copy=True, return_lse=True, **asked)
    assert lse.shape == (4, sum(rows))
    same((output, lse), (joined(padded[0], rows), joined(padded[1][..., None], rows)[..., 0].T.copy()))


def test_a_view_off_its_alignment_is_copied_where_that_is_allowed(cp: Any) -> None:
    store = cp.zeros(16 * 64 + 1, cp.float32)
    q = store[1:].reshape(1, 1, 16, 64)
    with pytest.raises(InputError, match="16-byte boundary"):
        attention(q, q, q, kernel="flash2")
    assert not attention(q, q, q, kernel="flash2", copy=True).any()
