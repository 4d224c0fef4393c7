"""Turns: each member is served in every round until it has enough, and not once more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.plan.plan import Protocol
from profiles.worker.turns import MIN_SAMPLES, enough, take_turns


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
)
def test_everybody_takes_turns_in_order_until_it_has_enough_and_then_no_more(
    costs: list[float], repeats: int, cap_s: float
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

    take_turns(members, done, turn)
    assert order == sorted(order)  # round after round, the same order in each
    for one in members:
        assert one.rounds == [*range(len(one.rounds))]  # no round is left out before the last
        assert min(MIN_SAMPLES, repeats) <= len(one.rounds) <= repeats
        at_cap = one.spent_s >= cap_s and len(one.rounds) >= MIN_SAMPLES
        assert len(one.rounds) == repeats or at_cap
        if len(one.rounds) > MIN_SAMPLES:  # the last one was called for
            assert one.cost_s * (len(one.rounds) - 1) < cap_s * (1 + 1e-9)


def test_nobody_is_no_trouble() -> None:
    take_turns([], lambda _: False, lambda *_: pytest.fail("nobody had a turn"))
