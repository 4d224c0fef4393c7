"""Several runs a side: every run counts once, and what differs between runs is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.compare import Pair, compare
from flashscope.profiles.results.compare.run_pairs import least_found
from flashscope.profiles.results.compare.wording import percent
from flashscope.profiles.results.model.session import Session
from tests.profiles.results.compare.built import rounds, session

SPREAD = 0.04  # between runs


def runs(ms: float, count: int = 5, *, clock: float | None = None, spread: float = SPREAD) -> list[Session]:
    """Runs whose medians stand evenly around a time; what a clock does to one it does to the time."""
    offs = np.linspace(-spread, spread, count)
    return [
        session({("k", 512): rounds(ms * (1 + off))}, clock=None if clock is None else clock / (1 + off))
        for off in offs
    ]


def only(base: list[Session], other: list[Session]) -> Pair:
    (found,) = compare(base, [other]).contrasts[0].pairs
    return found


def test_what_one_run_a_side_takes_for_a_change_several_find_to_be_between_runs() -> None:
    base, other = runs(1.0), runs(1.01)
    assert only(base[:1], other[-1:]).verdict == "slower"
    found = only(base, other)
    assert (found.verdict, found.better) == ("inconclusive", None)
    assert found.detectable is not None
    least = percent(found.detectable)
    assert found.reason == f"1.0% slower, but runs differ: it takes {least} to be found in 5 runs a side"


@pytest.mark.parametrize(("factor", "verdict"), [(1.2, "slower"), (1 / 1.2, "faster")])
def test_a_change_beyond_what_differs_between_runs_is_found(factor: float, verdict: str) -> None:
    found = only(runs(1.0), runs(factor))
    assert found.verdict == verdict
    assert found.ratio == pytest.approx(factor)
    assert found.base_figure is not None
    assert found.base_figure.source == "geometric mean of 5 runs' medians"
    assert (found.ratio_low or 9) < factor < (found.ratio_high or 0)


def test_sides_that_differ_by_less_than_would_be_found_are_the_same() -> None:
    assert only(runs(1.0, spread=0.002), runs(1.0005, spread=0.002)).verdict == "same"


def test_where_clocks_are_known_a_change_in_cycles_is_found_under_the_clocks_noise() -> None:
    base, other = runs(1.0, clock=1900.0), runs(1.02, clock=1900.0)
    found = only(base, other)
    assert found.verdict == "slower"
    assert found.cycles == pytest.approx(1.02)
    without = only(runs(1.0), runs(1.02))
    assert without.verdict == "inconclusive"


def test_a_slower_clock_alone_is_none_of_the_kernels() -> None:
    found = only(runs(1.0, clock=1980.0), runs(1.2, clock=1980.0 / 1.2))
    assert (found.verdict, found.better, found.by_clock) == ("inconclusive", None, True)
    assert found.reason == "20% slower by the clock alone"


def test_a_point_that_is_not_done_in_one_run_is_told_as_that() -> None:
    broken = [*runs(1.0, 4), session({("k", 512): "wrong"}, clock=None)]
    found = only(runs(1.0), broken)
    assert (found.verdict, found.better, found.reason) == (None, False, "was done, now wrong")


def test_runs_of_two_plans_are_no_side() -> None:
    with pytest.raises(InputError, match="Run 2 has another plan than run 1"):
        only([*runs(1.0, 1), session({("k", 1024): rounds(1.0)})], runs(1.0))


def test_a_run_counts_once() -> None:
    (one,) = runs(1.0, 1)
    with pytest.raises(InputError, match="there twice"):
        only([one, one], runs(1.0))


@given(st.integers(2, 9), st.floats(0.001, 0.3), st.integers(1, 200))
def test_more_runs_find_less_and_more_points_take_more(count: int, spread: float, among: int) -> None:
    logs = np.linspace(-spread, spread, count)
    more = np.concatenate([logs, logs])
    assert least_found(more, among) <= least_found(logs, among) <= least_found(logs, among + 1)
