"""Wheel and drag in the plots of a session, and the way back to all of their data."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from tests.app.bench import Bench
from tests.app.mouse import drag, wheel
from tests.app.pages.profile.failing import EVENTS


def swept(bench: Bench) -> list[SweepPlot]:
    """The plots of a session with data in all of them."""
    bench.sweep(EVENTS)
    return [card.plot for card in bench.page.plots.cells]


def sees_data(plot: SweepPlot) -> bool:
    (left, right), (low, high) = plot.viewRange()
    return any(
        np.any((x >= left) & (x <= right) & (y >= low) & (y <= high))
        for line in plot._lines()
        for x, y in [_fine(*line)]
    )


def _fine(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = np.isfinite(x) & np.isfinite(y)
    places = np.linspace(x.min(), x.max(), 4001)
    return places, (np.interp(places, x[known], y[known]) if known.any() else np.full(4001, np.nan))


def test_a_plot_that_was_zoomed_offers_to_show_all_and_a_click_on_that_does(bench: Bench) -> None:
    plot = swept(bench)[1]
    before = plot.viewRange()
    assert not plot._all.isVisible()
    wheel(plot, 4)
    assert plot.viewRange() != before
    assert plot._all.isVisible()
    assert plot.rect().contains(plot._all.geometry())
    QTest.mouseClick(plot._all, Qt.MouseButton.LeftButton)
    assert plot.viewRange() == before
    assert not plot._all.isVisible()


@pytest.mark.matrix
@pytest.mark.parametrize("way", [(900, 0), (-900, 0), (0, 900), (-700, -700)])
def test_however_far_a_plot_is_dragged_some_of_its_data_stays_in_view(
    bench: Bench, way: tuple[int, int]
) -> None:
    plot = swept(bench)[1]
    wheel(plot, 6)
    for _ in range(4):
        drag(plot, QPoint(*way))
    assert sees_data(plot)


@pytest.mark.matrix  # it takes a second
def test_zooming_out_ends_at_the_whole_data_and_nothing_is_left_to_offer(bench: Bench) -> None:
    plot = swept(bench)[1]
    before = plot.viewRange()
    wheel(plot, 3)
    wheel(plot, -9)
    assert plot.viewRange() == before
    assert not plot._all.isVisible()


@pytest.mark.matrix  # it takes a second
def test_the_part_of_n_on_show_is_the_same_in_all_plots_and_the_other_axis_stays(bench: Bench) -> None:
    first, *others = swept(bench)
    before = [plot.viewRange()[1] for plot in others]
    wheel(first, 4)
    assert all(plot.viewRange()[0] == pytest.approx(first.viewRange()[0]) for plot in others)
    assert [plot.viewRange()[1] for plot in others] == before
    assert all(plot._all.isVisible() for plot in others)
    QTest.mouseClick(others[2]._all, Qt.MouseButton.LeftButton)
    assert not any(plot._all.isVisible() for plot in (first, *others))


@pytest.mark.matrix
def test_another_session_is_shown_in_whole(bench: Bench) -> None:
    plot = swept(bench)[1]
    wheel(plot, 4)
    bench.sweep(EVENTS)
    assert not plot._all.isVisible()


@pytest.mark.matrix
def test_telemetry_of_which_a_part_is_on_show_offers_to_show_all(bench: Bench, qtbot: QtBot) -> None:
    swept(bench)
    bench.page.show_view("telemetry")
    bench.drawn()
    bottom = bench.page.bottom
    qtbot.waitUntil(lambda: bottom.freeze.height() > 0)  # it is laid out
    assert not bottom._all.isVisible()
    wheel(bottom.strip.ruler, 4)
    bench.drawn()
    assert bottom._all.isVisible()
    QTest.mouseClick(bottom._all, Qt.MouseButton.LeftButton)
    bench.drawn()
    assert not bottom._all.isVisible()


@pytest.mark.matrix
def test_each_notch_of_the_wheel_counts_even_before_the_telemetry_is_drawn_again(bench: Bench) -> None:
    swept(bench)
    bench.page.show_view("telemetry")
    bench.drawn()
    strip = bench.page.bottom.strip
    left, right = strip.ruler.viewRange()[0]
    wheel(strip.ruler, 4)
    bench.drawn()
    now = strip.ruler.viewRange()[0]
    assert now[1] - now[0] == pytest.approx((right - left) * 0.8**4)
