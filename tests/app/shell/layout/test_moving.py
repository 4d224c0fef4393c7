"""No plot of the window loses its data under wheel and drag without a visible way back."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import alike_recordings, bundled_sessions
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.plots.style import Plot
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.paint_turns import PaintTurns
from tests.app.mouse import drag, wheel
from tests.app.rig import Rig


def settle(window: MainWindow) -> None:
    for turns in window.page.findChildren(PaintTurns):
        turns.finish()


def offered(window: MainWindow) -> list[QPushButton]:
    """The buttons on show that lead back to all of the data."""
    return [b for b in window.page.findChildren(QPushButton) if b.text() == "Show all" and b.isVisible()]


@pytest.mark.matrix
def test_a_plot_either_stays_or_offers_to_show_all(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.resize(1600, 1000)
    rig.open(bundled_sessions()[2])
    compare = window.pages["compare"]
    assert isinstance(compare, ComparePage)
    with qtbot.waitSignal(compare.lineup.found):
        compare.choose(alike_recordings()[:2])
    compare.board.turn_view()
    moved = set()
    for key in VIEWS:
        window.show_page(key)
        settle(window)
        for plot in window.page.findChildren(Plot):
            if not plot.isVisible():
                continue
            before = plot.viewRange()
            wheel(plot, 3)
            drag(plot, QPoint(60, 25))
            settle(window)
            if not np.allclose(plot.viewRange(), before):
                moved.add(key)
                assert offered(window), f"{plot.accessibleName()} in {key}"
                show_all = window.registry.find(str(offered(window)[0].property("action")))
                assert show_all is not None
                assert show_all.shortcut().toString() == "A"
                show_all.trigger()
                settle(window)
                assert not offered(window), key
    assert {"profile", "telemetry", "compare"} <= moved


@pytest.mark.matrix
def test_nothing_moves_on_a_stage_where_all_is_shown(window: MainWindow, rig: Rig) -> None:
    window.resize(1280, 800)
    rig.open(bundled_sessions()[0])
    window.show_page("profile")
    settle(window)
    plot = next(plot for plot in window.page.findChildren(Plot) if plot.isVisible())
    wheel(plot, 3)
    assert offered(window)
    window.stage.enter()
    settle(window)
    before = plot.viewRange()
    wheel(plot, 3)
    drag(plot, QPoint(60, 25))
    assert not offered(window)
    assert plot.viewRange() == before
    window.stage.leave()
    wheel(plot, 3)
    assert offered(window)
