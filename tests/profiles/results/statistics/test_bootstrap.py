"""Resamples are drawn in pieces: no number of rounds that a file may hold takes all memory, or time."""

import numpy as np
import pytest

from flashscope.profiles.results.statistics.bootstrap import (
    FEWEST,
    MOST_ROUNDS,
    RESAMPLES,
    draws,
    intervals,
    resamples_of,
    thinned,
)
from tests.limits import limited


def test_what_is_drawn_in_pieces_is_what_is_drawn_at_once() -> None:
    pieces = np.concatenate([*draws(np.random.default_rng(3), 700, 9000)])
    np.testing.assert_array_equal(pieces, np.random.default_rng(3).integers(700, size=(9000, 700)))


@pytest.mark.parametrize("rounds", [5, 10, 100, 250])
def test_as_many_rounds_as_are_usual_have_all_resamples(rounds: int) -> None:
    assert resamples_of(rounds) == RESAMPLES
    assert thinned(np.arange(rounds * 1.0)).size == rounds


def test_of_very_many_rounds_as_many_are_taken_evenly_as_time_allows() -> None:
    assert [resamples_of(rounds) for rounds in (1000, 10_000, 10**7)] == [2500, FEWEST, FEWEST]
    taken = thinned(np.arange(1e6))
    assert taken.size == MOST_ROUNDS
    assert np.ptp(np.diff(taken)) <= 1


@pytest.mark.parametrize("rounds", [10_000, pytest.param(1_000_000, marks=pytest.mark.matrix)])
def test_intervals_of_very_many_rounds_take_little_time_and_memory(rounds: int) -> None:
    times = np.random.default_rng(5).lognormal(0, 0.1, (2, 1, rounds))
    with limited(nbytes=1 << 28):
        low, high = intervals(times[0], 1.2 * times[1])
    assert 1.18 < low[0] < 1.2 < high[0] < 1.22
