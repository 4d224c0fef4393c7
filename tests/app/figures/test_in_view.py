"""Where the view of a plot may be moved to."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.figures.in_view import held, is_whole

WHOLE = ((7.65, 14.35), (-1.0, 11.0))
RISING = (np.array([8.0, 10.0, 12.0, 14.0]), np.array([0.0, 3.0, 7.0, 10.0]))
GAP = (np.array([8.0, 10.0]), np.array([np.nan, np.nan]))
ends = st.tuples(st.floats(-100, 100), st.floats(1e-2, 100)).map(lambda two: (two[0], two[0] + two[1]))


@given(ends, ends)
def test_wherever_a_view_is_moved_a_line_is_in_it(x: tuple[float, float], y: tuple[float, float]) -> None:
    (left, right), (low, high) = held((x, y), WHOLE, [GAP, RISING])
    seen = np.interp(np.clip((left, right), 8.0, 14.0), *RISING)
    assert right > 8.0
    assert left < 14.0
    assert seen.min() <= high
    assert seen.max() >= low
    assert right - left <= min(x[1] - x[0], 6.7) + 1e-9


def test_a_view_with_data_in_it_stays_where_it_is() -> None:
    part = ((9.0, 11.0), (0.5, 6.0))
    assert held(part, WHOLE, [RISING]) == part


def test_a_view_cannot_be_larger_than_the_whole_and_then_it_is_the_whole() -> None:
    x, y = held(((0.0, 100.0), (-50.0, 50.0)), WHOLE, [RISING])
    assert is_whole(x, WHOLE[0])
    assert is_whole(y, WHOLE[1])


def test_without_data_a_view_stays_inside_the_whole() -> None:
    assert held(((20.0, 21.0), (0.0, 1.0)), WHOLE, [GAP])[0] == (13.35, 14.35)
