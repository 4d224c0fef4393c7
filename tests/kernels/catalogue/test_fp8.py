"""Attention in 8 bits: the numbers e4m3 has, the turn that keeps scores, blocks that share a scale."""

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from flashscope.kernels.catalogue import fp8
from flashscope.kernels.catalogue.fp8 import Rounding

Floats = npt.NDArray[np.float32]
HEAD_DIMS = (64, 96, 128, 160, 192, 224, 256)
each_head_dim = pytest.mark.parametrize("head_dim", HEAD_DIMS)
finite = st.floats(-(2.0**100), 2.0**100, width=32)
some_floats = arrays(np.float32, array_shapes(max_dims=2), elements=finite)


def normal(*shape: int) -> Floats:
    return np.random.default_rng(7).standard_normal(shape, dtype=np.float32)


@given(some_floats)
def test_rounding_is_that_of_e4m3(x: Floats) -> None:
    expected = x.clip(-448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    np.testing.assert_array_equal(fp8.round_e4m3(x), expected)


@given(some_floats)
def test_rounding_twice_is_rounding_once(x: Floats) -> None:
    once = fp8.round_e4m3(x)
    np.testing.assert_array_equal(fp8.round_e4m3(once), once)


@given(st.floats(2.0**-6, 448, width=32))
def test_a_rounded_number_is_off_by_a_sixteenth_at_most(x: float) -> None:
    assert abs(float(fp8.round_e4m3(np.array([x], np.float32))[0]) - x) <= x / 16


@each_head_dim
def test_the_turn_is_orthogonal_up_to_a_factor(head_dim: int) -> None:
    turned = fp8.turn(np.eye(head_dim, dtype=np.float32))
    np.testing.assert_array_equal(turned @ turned.T, fp8.hadamard_size(head_dim) * np.eye(head_dim))


@each_head_dim
def test_the_turn_keeps_scores(head_dim: int) -> None:
    q, k = normal(20, head_dim), normal(30, head_dim)
    scores = fp8.turn(q) @ fp8.turn(k).T * Rounding.score_factor(head_dim)
    np.testing.assert_allclose(scores, q @ k.T, rtol=1e-6, atol=1e-4)


@each_head_dim
def test_about_half_of_the_columns_change_their_sign(head_dim: int) -> None:
    assert abs(fp8.signs(head_dim, np).mean()) < 0.3


@given(arrays(np.float32, (3, 64), elements=finite))
def test_no_turned_entry_exceeds_its_bound(x: Floats) -> None:
    largest, bound = abs(fp8.turn(x)).max(axis=1), fp8.bounds(x)[:, 0]
    assert (largest <= bound).all()
    assert (bound <= largest * 8.001).all()  # sqrt(64)


@given(st.floats(2.0**-50, 2.0**50, width=32))
def test_a_block_fills_the_range_of_e4m3(largest: float) -> None:
    exponent = int(fp8.block_exponent(np.float32(largest)))
    assert largest * 2.0**-exponent <= 448 < 2 * largest * 2.0**-exponent


def test_zeros_stay_zeros() -> None:
    zeros = np.zeros((1, 2, 70, 64), np.float32)
    for array in Rounding(32).inputs(zeros, zeros, zeros):
        np.testing.assert_array_equal(array, zeros)


@each_head_dim
def test_a_round_trip_costs_what_three_bits_of_mantissa_cost(head_dim: int) -> None:
    """A relative error of 2^-4 at most, uniform in the mantissa: 2.6 % of the standard deviation."""
    v = normal(2, 3, 150, head_dim)
    _, _, rounded = Rounding(64).inputs(v, v, v)
    assert 0.02 < np.std(rounded - v) / np.std(v) < 0.03
    assert (abs(rounded - v) <= abs(v) / 16 + 1e-4).all()


@given(st.integers(1, 200), st.sampled_from((32, 96, 128)), st.sampled_from(HEAD_DIMS))
def test_rows_of_other_blocks_do_not_matter(seqlen: int, block: int, head_dim: int) -> None:
    x = normal(1, 1, seqlen, head_dim)
    first = x[:, :, :block]
    for whole, part in zip(
        Rounding(block).inputs(x, x, x), Rounding(block).inputs(first, first, first), strict=True
    ):
        rows = min(block, fp8.QUERY_BLOCK, seqlen)
        np.testing.assert_array_equal(whole[:, :, :rows], part[:, :, :rows])


def test_a_column_that_is_large_in_q_and_in_k_costs_less_when_it_is_spread() -> None:
    """Its product's rounding error leads unless spread; where q or k alone is large nothing is gained."""
    q, k = normal(1, 1, 256, 128), normal(1, 1, 256, 128)[:, :, ::-1].copy()
    q[..., 5] *= 30
    k[..., 5] *= 30
    exact = q[0, 0].astype(np.float64) @ k[0, 0].T
    turned_q, turned_k, plain_k = Rounding(64).inputs(q, k, k)
    _, _, plain_q = Rounding(64).inputs(q, k, q)
    turned = turned_q[0, 0] @ turned_k[0, 0].T * Rounding.score_factor(128)
    plain = plain_q[0, 0] @ plain_k[0, 0].T
    assert np.std(turned - exact) < 0.5 * np.std(plain - exact)
