"""The menu of the curves over time, what it writes, and where that comes from."""

import csv

import pytest
from PySide6.QtGui import QFontMetricsF, QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.plots.style import tick_font
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.store import sessions_dir
from tests.app.bench import end_saving
from tests.app.commands.test_trend import recorded
from tests.app.pages.sessions.conftest import listed
from tests.app.shell.test_context_menus import WRITTEN, entries, opened


@pytest.fixture
def over_time(page: SessionsPage, window: MainWindow, qtbot: QtBot) -> SessionsPage:
    """Two sessions of one machine and one of another, drawn."""
    recorded(sessions_dir() / "a.flashscope", 3)
    recorded(sessions_dir() / "b.flashscope", 20)
    recorded(sessions_dir() / "c.flashscope", 7, device="Another CPU")
    listed(page, qtbot, 3)
    window.show_page("trend")
    qtbot.waitUntil(lambda: page.trend.card.make_export() is not None)
    QApplication.processEvents()
    return page


def test_the_curves_over_time_have_the_menu_of_every_plot(over_time: SessionsPage) -> None:
    assert entries(opened(over_time.trend.card.plot.viewport())) == WRITTEN


def test_the_badge_tells_of_the_sessions_that_are_drawn_and_their_numbers_say_so(
    over_time: SessionsPage, window: MainWindow
) -> None:
    badge = "SAVED · CPU Test CPU · 2026-03-03 – 2026-03-20 · and 1 other machine"
    assert window.top_bar.badge.text() == badge
    button = over_time.trend.card.export_button
    button.exporter.copy_numbers()
    end_saving(button)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert f"# provenance: {badge}" in lines
    table = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert [one["device"] for one in table] == [
        "Test CPU, by model",
        "Another CPU, by model",
        "Test CPU, by model",
    ]
    assert all(float(one["runtime_ms"]) > 0 for one in table)
    window.show_page("sessions")
    assert window.top_bar.badge.text() == "CPU"


@pytest.mark.matrix
@pytest.mark.parametrize("percent", [100, 200])
def test_the_days_stand_clear_of_the_moments_above_them(
    over_time: SessionsPage, window: MainWindow, percent: int
) -> None:
    window.appearance.zoom(percent)
    window.appearance.finish()
    try:
        QApplication.processEvents()
        axis = over_time.trend.card.plot.getAxis("bottom")
        label = axis.label.mapRectToItem(axis, axis.label.boundingRect())
        moments = QFontMetricsF(tick_font()).height() + axis.style["tickTextOffset"][1]
        assert label.top() >= moments - 2
        assert "2026-03-03" in axis.label.toPlainText()
    finally:
        window.appearance.zoom(100)
        window.appearance.finish()
