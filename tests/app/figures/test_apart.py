"""Names at the ends of curves: none stands on another, none leaves the plot, all as near as they can."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.figures.text_places import place_texts, spread_texts

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
def test_the_first_ones_are_chosen_and_none_stands_far_from_what_it_names(
    wanted: list[float], far: float
) -> None:
    placed = place_texts(wanted, GAP, LOW, HIGH, far)
    places = sorted(placed.values())
    assert all(b - a >= GAP - 1e-6 for a, b in pairwise(places))
    assert all(abs(place - wanted[index]) <= far for index, place in placed.items())
    if wanted and LOW <= wanted[0] <= HIGH:
        assert 0 in placed
