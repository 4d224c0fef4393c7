"""Two sets of keys make one: merged attention is attention among all of them."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.context_parallel.merging import merge
from flashscope.kernels.oracle.reference import attention_reference


@given(st.integers(1, 12), st.integers(1, 30), st.data())
def test_parts_of_the_keys_merge_into_all(rows: int, keys: int, data: st.DataObject) -> None:
    draw = np.random.default_rng(data.draw(st.integers(0, 99))).standard_normal
    q, k, v = (draw((1, 2, count, 8)) * scale for count, scale in ((rows, 9), (keys, 1), (keys, 1)))
    ends = sorted({0, keys, *data.draw(st.lists(st.integers(0, keys), max_size=3))})
    output, lse = np.zeros((1, 2, rows, 8)), np.full((1, 2, rows), -np.inf)
    with np.errstate(all="raise", under="ignore"):
        for begin, end in pairwise(ends):
            part = attention_reference(q, k[:, :, begin:end], v[:, :, begin:end], causal=False, scale=1.0)
            merge(output, lse, *part)
    exact, exact_lse = attention_reference(q, k, v, causal=False, scale=1.0)
    np.testing.assert_allclose(output, exact, atol=1e-12)
    np.testing.assert_allclose(lse, exact_lse, atol=1e-12)


def test_a_part_without_keys_changes_nothing_and_is_replaced_by_one_with() -> None:
    nothing, none_lse = np.zeros((1, 1, 1, 2)), np.full((1, 1, 1), -np.inf)
    output, lse = nothing.copy(), none_lse.copy()
    with np.errstate(all="raise"):
        merge(output, lse, nothing, none_lse)
        assert not output.any()
        assert np.isneginf(lse).all()
        merge(output, lse, np.ones((1, 1, 1, 2)), np.full((1, 1, 1), -800.0))
        merge(output, lse, nothing, none_lse)
    assert (output == 1).all()
    assert (lse == -800).all()
