"""Student's t: by the printed tables, by its own inverse, and by what random numbers do."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.profiles.results.statistics.student import p_value, quantile

# Two-sided quantiles of 5% and 0.1%, as every printed table has them.
TABLE = {1: (12.706, 636.619), 2: (4.303, 31.599), 5: (2.571, 6.869), 8: (2.306, 5.041), 30: (2.042, 3.646)}


@pytest.mark.parametrize("freedom", TABLE)
def test_quantiles_are_those_of_the_printed_tables(freedom: int) -> None:
    assert (quantile(0.05, freedom), quantile(0.001, freedom)) == pytest.approx(TABLE[freedom], abs=6e-4)


@given(st.integers(1, 60), st.floats(1e-9, 1.0))
def test_a_quantile_has_the_p_value_it_was_asked_for(freedom: int, p: float) -> None:
    found = quantile(p, freedom)
    if math.isfinite(found):
        assert p_value(found, freedom) == pytest.approx(p, rel=1e-5, abs=1e-13)


def test_without_an_error_nothing_is_by_chance() -> None:
    assert p_value(math.inf, 8) == pytest.approx(0, abs=1e-15)
    assert p_value(0.0, 8) == 1


def test_it_is_how_often_means_of_normal_numbers_are_so_far_apart() -> None:
    base, other = np.random.default_rng(1).standard_normal((2, 20_000, 5))
    spread = np.sqrt((base.var(axis=1, ddof=1) + other.var(axis=1, ddof=1)) / 5)
    far = np.abs(base.mean(axis=1) - other.mean(axis=1)) / spread > quantile(0.05, 8)
    assert far.mean() == pytest.approx(0.05, abs=0.006)
