"""How wide the columns are, and what a tip says where a name has no room."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions.columns import COLUMNS
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.pages.sessions.table import hidden_columns_text
from flashscope.app.shell.main_window import MainWindow
from tests.app.fakes import sweep
from tests.app.pages.sessions.conftest import NAME, fill, listed, names
from tests.app.rig import Save
from tests.matrix import chosen

LONG = "flash3 beside the libraries, second run after the driver update"


def elided(page: SessionsPage) -> list[str]:
    """The names, when the first column has no room for one of them."""
    fits = page.table.columnWidth(NAME) >= page.table.sizeHintForColumn(NAME)
    return [] if fits else names(page)


@pytest.mark.matrix
@pytest.mark.parametrize("percent", [100, 150])
def test_a_name_is_shown_whole_where_the_page_has_room_also_one_that_comes_later_or_after_a_zoom(
    window: MainWindow, page: SessionsPage, save: Save, qtbot: QtBot, percent: int
) -> None:
    window.resize(2600, 800)
    fill(page, save, qtbot, "short")
    save(sweep(points=2), LONG)
    listed(page, qtbot, 2)
    window.appearance.zoom(percent)
    window.appearance.finish()
    QApplication.processEvents()
    try:
        qtbot.waitUntil(lambda: elided(page) == [])
        assert page.table.horizontalScrollBar().maximum() == 0
    finally:
        window.appearance.zoom(100)
        window.appearance.finish()


def test_in_a_narrow_page_the_tip_has_the_whole_name_and_the_file(
    window: MainWindow, page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    window.resize(900, 700)
    fill(page, save, qtbot, LONG)
    index = page.model.index(0, NAME)
    assert elided(page) == [LONG]
    assert index.data(Qt.ItemDataRole.ToolTipRole).startswith(LONG)
    assert ".flashscope" in index.data(Qt.ItemDataRole.ToolTipRole)


@pytest.mark.matrix
@chosen("percent", [100, 150, 200], {200})
def test_the_table_never_scrolls_sideways_and_says_which_columns_have_no_room(
    window: MainWindow, page: SessionsPage, save: Save, qtbot: QtBot, percent: int
) -> None:
    window.resize(1280, 720)
    fill(page, save, qtbot, LONG)
    window.appearance.zoom(percent)
    window.appearance.finish()
    QApplication.processEvents()
    try:
        assert page.table.horizontalScrollBar().maximum() == 0
        assert not page.table.isColumnHidden(NAME)
        hidden = [c.title for n, c in enumerate(COLUMNS) if page.table.isColumnHidden(n)]
        page.table.horizontalHeader().customContextMenuRequested.emit(QPoint(5, 5))
        (menu,) = page.table.findChildren(QMenu)
        assert [action.text() for action in menu.actions()] == hidden_columns_text(hidden)
        menu.close()
        assert percent == 100 or hidden
    finally:
        window.appearance.zoom(100)
        window.appearance.finish()


def test_a_width_that_was_set_by_hand_stays(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "short")
    page.table.horizontalHeader().resizeSection(NAME, 333)
    save(sweep(points=2), LONG)
    listed(page, qtbot, 2)
    assert page.table.columnWidth(NAME) == 333
