"""Marks of points that are not trusted stand beside their points, and not on one another."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from flashscope.app.look.theme import DARK
from flashscope.app.look.zoom import ZOOM
from flashscope.app.plots.sweep.doubt_marks import ASIDE_PX, CORNERS, HIGH_PX, WIDE_PX, DoubtedPoints, Taken
from flashscope.app.plots.sweep.end_labels import Written
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.profiles.results.quantities.registry import RUNTIME
from tests.matrix import in_rounds

pixels = st.floats(-50, 50)


@pytest.fixture(autouse=True)
def at_100(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ZOOM, "factor", 1.0)


def meet(one: QPointF, other: QPointF) -> bool:
    return abs(one.x() - other.x()) < WIDE_PX and abs(one.y() - other.y()) < HIGH_PX


@in_rounds(2)
@given(points=st.lists(st.builds(QPointF, pixels, pixels), max_size=60))
def test_of_any_places_those_are_taken_that_meet_none_taken_before(turn: int, points: list[QPointF]) -> None:
    taken = Taken(WIDE_PX, HIGH_PX)
    kept: list[QPointF] = []
    for point in points:
        free = not any(meet(point, other) for other in kept)
        assert taken.take(point) == free
        kept += [point] * free


def shown(places: list[tuple[float, float]], *, back: bool = False) -> SweepPlot:
    """A plot of 400 by 300 pixels with marks of points at these places, in pixels from its lower left."""
    plot = SweepPlot(RUNTIME, DARK)
    plot.resize(400, 300)
    plot.show()
    QApplication.processEvents()
    view = plot.getViewBox()
    size = np.array([view.width(), view.height()])
    view.setRange(xRange=(0, 1), yRange=(0, 1), padding=0)
    plot.doubts.show_doubted([DoubtedPoints(np.array([place]) / size, back) for place in places])
    return plot


def test_marks_of_points_close_to_one_another_stand_at_other_corners(qapp: QApplication) -> None:
    assert qapp
    plot = shown([(100.0 + 3 * k, 100.0) for k in range(3)])
    marks = plot.doubts.marked
    assert len(marks) == 3
    assert not any(meet(one.at, other.at) for one, other in combinations(marks, 2))
    plot.close()


def test_a_point_among_marked_ones_is_left_out_rather_than_marked_over_them(qapp: QApplication) -> None:
    assert qapp
    plot = shown([(100.0, 100.0)] * (len(CORNERS) + 3))
    assert len(plot.doubts.marked) == len(CORNERS)
    plot.close()


def test_a_point_by_the_edge_of_the_view_has_its_mark_inside_and_one_out_of_sight_has_none(
    qapp: QApplication,
) -> None:
    assert qapp
    plot = shown([(1.0, 100.0), (-40.0, 100.0)])
    (mark,) = plot.doubts.marked
    assert mark.at.x() == pytest.approx(1.0 + ASIDE_PX[0])
    plot.close()


def test_marks_of_curves_that_stand_back_are_faint(qapp: QApplication) -> None:
    assert qapp

    def redness(*, back: bool) -> int:
        plot = shown([(100.0, 100.0)], back=back)
        image = plot.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        plot.close()
        colours = (image.pixelColor(x, y) for x in range(400) for y in range(300))
        return max(int(colour.red() - colour.blue()) for colour in colours)

    assert 0 < redness(back=True) < redness(back=False) / 2


def test_no_mark_stands_on_the_name_of_a_curve(qapp: QApplication) -> None:
    assert qapp
    plot = shown([(100.0, 100.0)])
    (mark,) = plot.doubts.marked
    plot.labels._written = (Written("flash2", QRectF(mark.at - QPointF(1, 1), QSizeF(40, 12))),)
    plot.doubts.place()
    (moved,) = plot.doubts.marked
    assert moved.at != mark.at
