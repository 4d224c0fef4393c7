"""An axis has four labelled ticks at least, on every scale: narrow view, low plot, large text."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtGui import QFontMetricsF

from flashscope.app.figures.ticks import FEWEST, value_ticks
from flashscope.app.look.zoom import ZOOM
from flashscope.app.plots.axes import ValueAxis
from flashscope.app.plots.style import tick_font
from flashscope.app.words.kinds import KINDS
from flashscope.profiles.results.quantities.quantity import QuantityKind
from tests.matrix import chosen

LOGARITHMIC = [kind for kind, words in KINDS.items() if words.scale != "linear"]
SMALLEST: dict[QuantityKind, int] = {"bytes": 20, "traffic": 6}  # places of about a MiB and of a MB


@pytest.fixture(params=[0.8, 1.0, 1.5, 2.0, 2.5])
def factor(request: pytest.FixtureRequest, qapp: object) -> Iterator[float]:
    ZOOM.factor = request.param
    yield request.param
    ZOOM.factor = 1.0


@pytest.mark.parametrize("kind", LOGARITHMIC)
@chosen("span", [0.3, 0.7, 1.3, 2.2, 3.0, 4.4, 9.0], {0.7, 4.4})
@pytest.mark.parametrize("start", [-3.3, -0.1, 0.6])
def test_there_are_four_ticks_whose_labels_fit(
    factor: float, kind: QuantityKind, span: float, start: float
) -> None:
    axis, height = ValueAxis(KINDS[kind]), 90 * factor
    low = start + SMALLEST.get(kind, 0)
    high = low + span
    ((_, places),) = axis.tickValues(low, high, height)
    half = QFontMetricsF(tick_font()).height() / 2 * span / height
    assert sum(low + half <= place <= high - half for place in places) >= FEWEST
    assert len(set(axis.tickStrings(places, 1.0, 1.0))) == len(places)


@given(
    low=st.floats(-1100, 1100),
    span=st.floats(0, 12) | st.floats(1e-12, 1e-3),
    kind=st.sampled_from(LOGARITHMIC),
    room=st.integers(2, 40),
    height=st.floats(20, 2000),
)
@example(low=2.0, span=1e-7, kind="time", room=5, height=100.0)  # one value in six digits
@example(low=299.0, span=12.0, kind="time", room=2, height=31.0)  # up to where no number is
@example(low=1020.0, span=12.0, kind="bytes", room=5, height=100.0)
def test_however_near_or_far_one_looks_ticks_are_inside(
    low: float, span: float, kind: QuantityKind, room: int, height: float
) -> None:
    high, binary = low + span, kind == "bytes"
    places = value_ticks(low, high, KINDS[kind].scale, binary=binary, room=room, half=7 * span / height)
    assert all(low - 1e-5 <= place <= high + 1e-5 for place in places)  # labels have six digits


@pytest.mark.parametrize("high", [1.07, 3.0, 5.6, 12.4, 706.0, 9.9e5])
def test_a_linear_axis_has_four_ticks_whose_labels_fit(factor: float, high: float) -> None:
    axis, height = ValueAxis(KINDS["rate"]), 90 * factor
    ((_, places),) = axis.tickValues(0.0, high, height)
    half = QFontMetricsF(tick_font()).height() / 2 * high / height
    assert sum(half <= place <= high - half for place in places) >= FEWEST
    assert all(after - before >= 1.6 * half for before, after in pairwise(places))


def test_the_rail_of_failures_leaves_four_below_it(qapp: object) -> None:
    axis = ValueAxis(KINDS["time"])
    axis.end_at(2.0)
    ((_, places),) = axis.tickValues(-1.0, 4.0, 150.0)
    assert len(places) >= FEWEST
    assert max(places) <= 2.0


@given(low=st.floats(20, 40), span=st.floats(6.5, 12), height=st.floats(104, 160))
@example(low=27.3, span=9.3, height=113.0)  # a low plot of 256 MiB to 64 GiB
def test_over_several_doublings_ticks_of_bytes_are_powers_of_two(
    low: float, span: float, height: float
) -> None:
    half = 7 * span / height
    places = value_ticks(low, low + span, "log2", binary=True, room=int(height / 18), half=half)
    assert len(places) >= FEWEST
    assert all(place == round(place) for place in places)
