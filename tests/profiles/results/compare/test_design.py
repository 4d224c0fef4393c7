"""Whether the rounds are enough for so many pairs: said once, and not by ten thousand inconclusive ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.profiles.results.compare import compare
from flashscope.profiles.results.compare.design import shortfall
from flashscope.profiles.results.compare.regressions import regressions
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.statistics.ranks import holm, least_p, p_value
from tests.matrix import in_rounds
from tests.profiles.results.compare.built import rounds, session

LEVEL = 0.05


def of(points: int, times: float = 1.0, count: int = 5) -> Session:
    return session({("k", 256 * (n + 1)): rounds(times, count=count) for n in range(points)})


def test_ten_rounds_cannot_decide_among_ten_thousand_pairs_and_what_could_is_said() -> None:
    assert shortfall([(10, 10)] * 10_000) == (
        "10 rounds cannot decide among 10,000 pairs, however much they differ: measure 11 rounds in both "
        "sessions, or compare at most 4,618 pairs."
    )


def test_rounds_that_differ_between_the_sessions_are_both_named() -> None:
    assert shortfall([(5, 8)] * 60).startswith("5 and 8 rounds cannot decide among 60 pairs")


def test_where_any_pair_can_be_decided_nothing_is_said() -> None:
    assert shortfall([]) == ""
    assert shortfall([(10, 10)] * 4_618) == ""
    assert shortfall([*[(5, 5)] * 99, (10, 10)]) == ""


@given(st.integers(5, 14), st.integers(5, 14), st.integers(1, 200_000))
def test_it_is_said_exactly_where_rounds_apart_from_each_other_prove_nothing(
    few: int, many: int, pairs: int
) -> None:
    least = p_value(np.arange(few, dtype=float), np.arange(many, dtype=float) + 100)
    assert least == pytest.approx(least_p(few, many))
    assert bool(shortfall([(few, many)] * pairs)) == (least * pairs > LEVEL)


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(st.integers(5, 9), st.integers(7, 200_000))
def test_the_rounds_told_are_the_fewest_and_the_pairs_the_most_that_suffice(
    turn: int, count: int, pairs: int
) -> None:
    told = shortfall([(count, count)] * pairs)
    if told:
        words = told.replace(",", "").split()
        enough, most = int(words[words.index("measure") + 1]), int(words[-2])
        assert least_p(enough, enough) * pairs <= LEVEL < least_p(enough - 1, enough - 1) * pairs
        assert least_p(count, count) * most <= LEVEL < least_p(count, count) * (most + 1)
        assert holm([least_p(enough, enough)] * 3 + [1.0] * (pairs - 3))[0] <= LEVEL


def test_a_comparison_says_so_and_only_then() -> None:
    twelve = compare(of(12), [of(12, 1.5)])
    assert {pair.verdict for pair in twelve.contrasts[0].pairs} == {"inconclusive"}
    assert twelve.caution.startswith(
        "5 rounds cannot decide among 12 pairs, however much they differ: measure 6"
    )
    six = compare(of(6), [of(6, 1.5)])
    assert {pair.verdict for pair in six.contrasts[0].pairs} == {"slower"}
    assert six.caution == ""


def test_a_check_that_could_find_no_regression_does_not_pass() -> None:
    found = regressions(compare(of(12), [of(12, 1.5)]), 0.05)
    assert (found.inconclusive, found.undecided) == (12, 12)
    same = regressions(compare(of(12), [of(12)]), 0.05)
    assert same.undecided == 0, "that they are the same is known all the same"
