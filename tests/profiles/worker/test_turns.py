"""Turns: each member is served in every round until it has enough, and not once more."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.worker.turns import MIN_SAMPLES, enough, take_turns


class Series:
    """A kernel whose every sample takes the same time."""

    def __init__(self, cost_s: float) -> None:
        self.cost_s = cost_s
        self.rounds: list[int] = []

    @property
    def spent_s(self) -> float:
        return sum(self.cost_s for _ in self.rounds)


@given(
    costs=st.lists(st.floats(1e-6, 30.0), min_size=1, max_size=6),
    repeats=st.integers(1, 40),
    cap_s=st.floats(1e-3, 60.0),
    seed=st.integers(0, 2**32),
)
def test_everybody_takes_turns_until_it_has_enough_and_then_no_more(
    costs: list[float], repeats: int, cap_s: float, seed: int
) -> None:
    protocol = Protocol(repeats=repeats, time_cap_s=cap_s)
    members = [Series(cost) for cost in costs]
    order: list[tuple[int, int]] = []

    def done(one: Series) -> bool:
        return enough(protocol, len(one.rounds), one.spent_s)

    def turn(one: Series, number: int) -> None:
        assert not done(one)
        one.rounds.append(number)
        order.append((number, members.index(one)))

    take_turns(members, done, turn, seed)
    assert [number for number, _ in order] == sorted(number for number, _ in order)  # round after round
    for one in members:
        assert one.rounds == [*range(len(one.rounds))]  # no round is left out before the last
        assert min(MIN_SAMPLES, repeats) <= len(one.rounds) <= repeats
        at_cap = one.spent_s >= cap_s and len(one.rounds) >= MIN_SAMPLES
        assert len(one.rounds) == repeats or at_cap
        if len(one.rounds) > MIN_SAMPLES:  # the last one was called for
            assert one.cost_s * (len(one.rounds) - 1) < cap_s * (1 + 1e-9)


def rounds_of(members: str, rounds: int, seed: int) -> list[str]:
    """Who came after whom in so many rounds."""
    order = [""] * rounds

    def turn(member: str, number: int) -> None:
        order[number] += member

    take_turns(members, lambda member: order[-1].count(member) == 1, turn, seed)
    return order


@given(st.integers(2, 8), st.integers(1, 10), st.integers(0, 2**32))
def test_in_every_two_rounds_all_come_as_early_as_late(count: int, pairs: int, seed: int) -> None:
    members = "ABCDEFGH"[:count]
    order = rounds_of(members, 2 * pairs, seed)
    for first, second in zip(order[::2], order[1::2], strict=True):
        assert sorted(first) == list(members)
        assert second == first[::-1]


def test_the_order_is_drawn_by_the_seed_and_anyone_may_follow_anyone() -> None:
    order = rounds_of("ABCD", 60, seed=5)
    assert order == rounds_of("ABCD", 60, seed=5)
    assert order != rounds_of("ABCD", 60, seed=6)
    follow = {pair for one in order for pair in pairwise(one)}
    assert len(follow) == 12


def test_nobody_is_no_trouble() -> None:
    take_turns([], lambda _: False, lambda *_: pytest.fail("nobody had a turn"), seed=0)
