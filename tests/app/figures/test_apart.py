"""Names at the ends of curves: none stands on another, none leaves the plot, all as near as they can."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.figures.text_places import share_texts, spread_texts

WANTED = st.lists(st.floats(-50, 450), max_size=16)
GAP, LOW, HIGH = 14.0, 7.0, 393.0


@given(WANTED)
def test_texts_are_apart_inside_and_in_the_order_of_what_they_name(wanted: list[float]) -> None:
    placed = spread_texts(wanted, GAP, LOW, HIGH)
    assert placed is not None
    ordered = sorted(zip(wanted, placed, strict=True))
    places = [place for _, place in ordered]
    assert places == sorted(places)
    assert all(b - a >= GAP - 1e-6 for a, b in pairwise(places))
    assert all(LOW - 1e-6 <= place <= HIGH + 1e-6 for place in places)


@given(WANTED)
def test_texts_that_are_apart_already_stay_where_they_are(wanted: list[float]) -> None:
    placed = spread_texts(wanted, GAP, LOW, HIGH) or []
    ordered = sorted(wanted)
    alone = all(b - a >= GAP for a, b in pairwise(ordered))
    if alone and all(LOW <= place <= HIGH for place in wanted):
        assert placed == wanted


def test_more_texts_than_have_room_have_no_places() -> None:
    assert spread_texts([0.0] * 30, GAP, LOW, HIGH) is None
    assert spread_texts([], GAP, LOW, HIGH) == []


@given(WANTED, st.floats(0, 60))
def test_every_text_has_a_place_near_it_if_not_alone_and_the_first_is_never_among_the_others(
    wanted: list[float], far: float
) -> None:
    inside = [min(max(place, LOW), HIGH) for place in wanted]
    shared = share_texts(inside, GAP, LOW, HIGH, far)
    assert sorted(member for one in shared for member in one.members) == [*range(len(wanted))]
    assert all(list(one.members) == sorted(one.members) for one in shared)
    assert all(b.at - a.at >= GAP - 1e-6 for a, b in pairwise(shared))
    for one in shared:
        middle = sum(inside[member] for member in one.members) / len(one.members)
        assert abs(one.at - middle) <= far + 1e-6


def test_of_texts_at_one_place_the_last_ones_share_a_line() -> None:
    assert [one.members for one in share_texts([200.0] * 4, GAP, LOW, HIGH, GAP)][:2] == [(0,), (1,)]
