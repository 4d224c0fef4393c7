"""A pointer that rests on a stage changes nothing there before the speaker lets it."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED, alike_recordings
from flashscope.app.pages.profile.staging import ProfileStaging
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.style import Plot
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import Story
from flashscope.app.widgets.paint_turns import PaintTurns
from tests.app.mouse import hover
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import Key, answer, press, profile, settle


def dimmed(window: MainWindow) -> set[str]:
    """The kernels whose curves stand back."""
    curves = profile(window).plots.cells[0].plot._curves
    return {kernel for kernel, one in curves.items() if one.curve.opacity() < 1}


def point_at(plot: SweepPlot, kernel: str) -> None:
    """Have the pointer come onto the curve of a kernel."""
    move_to(
        plot, plot.mapFromScene(plot.getViewBox().mapViewToScene(QPointF(*plot._curves[kernel].places()[0])))
    )


def move_to(plot: Plot, here: QPoint) -> None:
    """Have the pointer come to a place, no button pressed."""
    none = Qt.MouseButton.NoButton
    at = QPointF(here), QPointF(plot.viewport().mapToGlobal(here))
    move = QMouseEvent(QEvent.Type.MouseMove, *at, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(plot.viewport(), move)


@pytest.mark.matrix
def test_a_resting_pointer_dims_no_curve_before_c_lets_it(
    window: MainWindow, rig: Rig, qtbot: QtBot, story: Story
) -> None:
    plot = profile_after(window, rig, qtbot, story)
    assert not dimmed(window), "what was pointed at before the stage"
    point_at(plot, "standard")
    assert not dimmed(window)
    press(window, Key.Key_C)
    point_at(plot, "standard")
    assert dimmed(window) == {"flash2"}
    press(window, Key.Key_C)
    assert not dimmed(window)


def profile_after(window: MainWindow, rig: Rig, qtbot: QtBot, story: Story) -> SweepPlot:
    """The first plot of a story that was begun with the pointer on a curve."""
    path = story.session_of(story.stops[0])
    assert path is not None
    rig.open(path)
    window.show_page("profile")
    plots = profile(window).plots
    for turns in window.page.findChildren(PaintTurns):
        turns.finish()
    plots._point_at("standard")
    assert dimmed(window)
    window.activateWindow()
    window.stage.enter(story)
    settle(window, rig, qtbot)
    return plots.cells[0].plot


@pytest.mark.matrix
def test_a_name_of_the_legend_looks_the_same_under_the_pointer_before_c(staged: MainWindow) -> None:
    staging = profile(staged).staging
    assert isinstance(staging, ProfileStaging)
    name = staging.legend.findChildren(QPushButton)[0]
    before = name.grab().toImage()
    hover(name)
    assert name.underMouse()
    assert name.grab().toImage() == before
    press(staged, Key.Key_C)
    assert name.grab().toImage() != before


@pytest.mark.matrix
@pytest.mark.parametrize("view", ["roofline", "traffic", "compare", "telemetry"])
def test_no_plot_of_a_stage_heeds_a_resting_pointer_before_c(
    window: MainWindow, rig: Rig, qtbot: QtBot, view: str
) -> None:
    rig.open(BUNDLED / "h200-traffic.flashscope")
    window.show_page(view)
    window.page.show_files(alike_recordings())
    qtbot.waitUntil(lambda: not window.staging.lack)
    window.activateWindow()
    window.trigger("stage")
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    plots = window.page.findChildren(Plot)
    heeded: list[QPointF] = []
    for plot in plots:
        plot.scene().sigMouseMoved.connect(heeded.append)
        move_to(plot, plot.rect().center())
    assert not heeded
    press(window, Key.Key_C)
    for plot in plots:
        move_to(plot, plot.rect().center() + QPoint(1, 1))
    assert len(heeded) == len(plots) > 0


def test_a_resting_pointer_lights_no_row_of_a_score_tile_before_c(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.show_page("stepper")
    stepper = window.page
    assert isinstance(stepper, StepperPage)
    stepper.show_preset("slide")
    answer(rig)
    window.activateWindow()
    window.trigger("stage")
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    scores = stepper.board.scores
    scores.cell_hovered.emit((0, 0))
    assert scores.hovered is None
    press(window, Key.Key_C)
    scores.cell_hovered.emit((0, 0))
    assert scores.hovered == (0, 0)
