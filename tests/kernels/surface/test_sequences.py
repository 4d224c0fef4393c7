"""Offsets of sequences one behind the other, and names of layouts: each wrong one is told in a sentence."""

from typing import Any

import numpy as np
import pytest

from flashscope.kernels import BlockMask, attention, attention_backward
from flashscope.kernels.workload.errors import InputError

Q, KV = np.ones((9, 4, 16), np.float32), np.ones((11, 2, 16), np.float32)


def starts(*numbers: int, dtype: Any = np.int32) -> Any:
    return np.array(numbers, dtype)


GOOD: dict[str, Any] = {
    "q": Q,
    "k": KV,
    "v": KV,
    "layout": "thd",
    "cu_seqlens_q": starts(0, 4, 9),
    "cu_seqlens_k": starts(0, 0, 11),
    "max_seqlen_q": 5,
    "max_seqlen_k": 11,
}
FOUR = np.ones((2, 4, 5, 16), np.float32)
PLAIN: dict[str, Any] = {"q": FOUR, "k": FOUR, "v": FOUR}

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"layout": "bhdn"}, "layout must be one of bhnd, bnhd, thd, not 'bhdn'"),
    ({"layout": None}, "layout must be one of bhnd, bnhd, thd, not None"),
    ({"q": FOUR}, r"q must have 3 axes \(tokens, heads, head_dim\), not shape \(2, 4, 5, 16\)"),
    ({"k": KV[:, :1]}, r"the same heads \(axis 1 of \(tokens, heads, head_dim\)\), a divisor .* not 1 and 2"),
    ({"v": KV[:7]}, r"the same tokens \(axis 0 of \(tokens, heads, head_dim\)\), not 11 and 7"),
    ({"k": KV[..., :8]}, r"the same head_dim \(axis 2 of .* not 16 and 8"),
    ({"cu_seqlens_q": None}, r'layout="thd" needs cu_seqlens_q, .* and max_seqlen_k: give cu_seqlens_q\.'),
    ({"max_seqlen_q": None, "max_seqlen_k": None}, "give max_seqlen_q and max_seqlen_k"),
    (
        {"cu_seqlens_q": starts(0, 4, 9, dtype=np.int64)},
        "cu_seqlens_q must be an int32 array .* not int64 of",
    ),
    (
        {"cu_seqlens_q": [0, 4, 9]},
        r"cu_seqlens_q must be an int32 array of shape \(batch \+ 1,\), not \[0, 4",
    ),
    ({"cu_seqlens_k": starts()}, r"cu_seqlens_k must be .* not int32 of shape \(0,\)"),
    ({"cu_seqlens_k": starts(0)}, "cu_seqlens_k must end with the 11 tokens of k, not 0"),
    ({"q": Q[:, :0]}, r"q is empty, shape \(9, 0, 16\)"),
    ({"cu_seqlens_k": starts(0, 3, 5, 11)}, "must be of the same batch, as long as each other, not 3 and 4"),
    ({"cu_seqlens_q": starts(1, 4, 9)}, "cu_seqlens_q must begin with 0, not 1"),
    ({"cu_seqlens_q": starts(0, 10, 9)}, "cu_seqlens_q must never fall, not from 10 to 9 as of sequence 1"),
    ({"cu_seqlens_k": starts(0, 0, 10)}, "cu_seqlens_k must end with the 11 tokens of k, not 10"),
    ({"max_seqlen_q": 4}, "max_seqlen_q must be at least 5, the length of sequence 1, not 4"),
    ({"max_seqlen_k": 10}, "max_seqlen_k must be at least 11, the length of sequence 1, not 10"),
    ({"max_seqlen_k": 11.0}, r"max_seqlen_k must be a whole number, not 11\.0"),
    (
        {"block_mask": BlockMask.of([[True]], 99, 99)},
        'block_mask must be left out with layout="thd"',
    ),
]
WRONG_FORWARD: list[tuple[dict[str, Any], str]] = [
    ({"key_lengths": (3, 4)}, 'key_lengths must be left out with layout="thd"'),
    ({"query_lengths": (3, 4), "key_lengths": (1, 1)}, "query_lengths and key_lengths must be left out with"),
    ({"page_table": np.zeros((2, 1), np.int32)}, 'page_table goes with layout="bhnd" or "bnhd", not "thd"'),
]
WRONG_PLAIN: list[tuple[dict[str, Any], str]] = [
    (
        {"cu_seqlens_q": starts(0, 4, 9)},
        'cu_seqlens_q must be left out with layout="bhnd", or take "thd"',
    ),
    ({"layout": "bnhd", "max_seqlen_k": 5}, 'max_seqlen_k must be left out with layout="bnhd"'),
    ({"layout": "thd"}, r"q must have 3 axes \(tokens, heads, head_dim\)"),
    ({"layout": "bnhd", "k": FOUR[:, :3]}, r"the same seqlen \(axis 1 of \(batch, seqlen, heads, head_dim\)"),
    ({"layout": "bnhd", "v": FOUR[:, :, :3]}, r"same heads \(axis 2 of \(batch, seqlen, heads, head_dim\)"),
    ({"copy": 1}, "copy must be True or False, not 1"),
]


def refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        attention(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("changed", "says"), WRONG + WRONG_FORWARD)
def test_wrong_sequences_are_refused_with_what_is_accepted(changed: dict[str, Any], says: str) -> None:
    refused(GOOD | changed, says)


@pytest.mark.parametrize(("changed", "says"), WRONG_PLAIN)
def test_what_belongs_to_another_layout_is_refused(changed: dict[str, Any], says: str) -> None:
    refused(PLAIN | changed, says)


@pytest.mark.parametrize(("changed", "says"), WRONG)
def test_the_backward_pass_refuses_the_same(changed: dict[str, Any], says: str) -> None:
    arguments = GOOD | {"output": Q, "lse": np.zeros((4, 9), np.float32), "grad_output": Q} | changed
    with pytest.raises(InputError, match=says):
        attention_backward(**arguments)


def test_the_lse_of_a_backward_pass_has_the_axes_of_the_layout() -> None:
    arguments = GOOD | {"output": Q, "grad_output": Q, "lse": np.zeros((9, 4), np.float32)}
    with pytest.raises(InputError, match=r"lse must be float32 of shape \(heads, tokens\) = \(4, 9\), not"):
        attention_backward(**arguments)


def test_a_maximum_may_be_larger_than_the_longest_sequence() -> None:
    larger = GOOD | {"max_seqlen_q": 128, "max_seqlen_k": 4096}
    np.testing.assert_array_equal(attention(**larger), attention(**GOOD))


def test_rows_without_keys_are_zero_and_their_lse_is_minus_infinity() -> None:
    output, lse = attention(**GOOD, return_lse=True)
    assert not output[:4].any()
    assert np.isneginf(lse[:, :4]).all()
    np.testing.assert_allclose(output[4:], 1, rtol=1e-6)


@pytest.mark.parametrize("offsets", [starts(0), starts(0, 0), starts(0, 0, 0)])
def test_sequences_that_have_no_tokens_at_all_have_an_empty_answer(offsets: Any) -> None:
    none = {"layout": "thd", "cu_seqlens_q": offsets, "cu_seqlens_k": offsets}
    none |= {"max_seqlen_q": 0, "max_seqlen_k": 0}
    q, kv = Q[:0], KV[:0]
    output, lse = attention(q, kv, kv, return_lse=True, **none)
    assert (output.shape, output.dtype) == (q.shape, q.dtype)
    assert (lse.shape, lse.dtype) == ((4, 0), np.float32)
    gradients = attention_backward(q, kv, kv, output, lse, output, **none)
    assert [(one.shape, one.dtype) for one in gradients] == [(one.shape, one.dtype) for one in (q, kv, kv)]


@pytest.mark.parametrize("rows", [0, 9])
def test_queries_without_any_key_are_zero_and_keys_without_any_query_have_no_gradient(rows: int) -> None:
    q, kv, keys = Q[:rows], KV[: 11 if rows == 0 else 0], 11 if rows == 0 else 0
    given = {"layout": "thd", "cu_seqlens_q": starts(0, rows), "cu_seqlens_k": starts(0, keys)}
    given |= {"max_seqlen_q": rows, "max_seqlen_k": keys}
    output, lse = attention(q, kv, kv, return_lse=True, **given)
    np.testing.assert_array_equal(output, np.zeros_like(q))
    np.testing.assert_array_equal(lse, np.full((4, rows), -np.inf, np.float32))
    for gradient, of in zip(attention_backward(q, kv, kv, output, lse, q, **given), (q, kv, kv), strict=True):
        np.testing.assert_array_equal(gradient, np.zeros_like(of))
