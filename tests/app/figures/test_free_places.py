"""Texts beside points of a plot stand where no line crosses them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.figures.free_places import Box, free_place

FIELD = Box(0, 0, 400, 200)
SIZE = 60.0, 15.0
SPOTS = st.tuples(st.floats(0, 400), st.floats(0, 200))


def test_without_anything_in_its_way_it_stands_right_of_the_point() -> None:
    assert free_place((100, 100), SIZE, 6, FIELD, ([], [])) == Box(106, 92.5, 166, 107.5)


@pytest.mark.parametrize("line", [((0, 95), (400, 104)), ((130, 0), (131, 200)), ((110, 95), (120, 98))])
def test_a_line_through_that_place_sends_it_elsewhere(line: tuple[tuple[float, float], ...]) -> None:
    found = free_place((100, 100), SIZE, 6, FIELD, ([(line[0], line[1])], []))
    assert found is not None
    assert not found.crossed_by((line[0], line[1]))


def test_near_an_edge_of_the_field_it_stands_over_the_point_as_far_as_there_is_room() -> None:
    wall, mark = ((66.0, 0.0), (66.0, 200.0)), Box(0, 93, 10, 107)
    assert free_place((5, 100), SIZE, 6, FIELD, ([wall], [mark])) == Box(0, 77.5, 60, 92.5)


def test_where_there_is_no_room_it_has_no_place() -> None:
    assert free_place((100, 100), SIZE, 6, FIELD, ([], [FIELD])) is None
    assert free_place((100, 100), (500, 15), 6, FIELD, ([], [])) is None


@given(SPOTS, st.lists(st.tuples(SPOTS, SPOTS), max_size=8), st.lists(SPOTS, max_size=8))
def test_no_line_crosses_a_place_and_no_mark_touches_it(
    point: tuple[float, float],
    lines: list[tuple[tuple[float, float], tuple[float, float]]],
    marks: list[tuple[float, float]],
) -> None:
    boxes = [Box(x - 5, y - 5, x + 5, y + 5) for x, y in marks]
    found = free_place(point, SIZE, 6, FIELD, (lines, boxes))
    if found is None:
        return
    assert FIELD.holds(found)
    assert not any(map(found.touches, boxes))
    steps = [k / 50 for k in range(51)]
    on_lines = [(x + s * (to_x - x), y + s * (to_y - y)) for (x, y), (to_x, to_y) in lines for s in steps]
    inside = [
        spot for spot in on_lines if found.left < spot[0] < found.right and found.top < spot[1] < found.bottom
    ]
    assert not inside
