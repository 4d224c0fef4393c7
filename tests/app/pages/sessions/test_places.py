"""Buttons keep their places: none comes to stand under the pointer where another one was."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions import page as sessions
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from tests.app.pages.sessions.conftest import choose, fill, names
from tests.app.rig import Save
from tests.matrix import chosen


def places(page: SessionsPage) -> dict[str, QRect]:
    """Where each button of the page stands; those that are not to be seen are not among them."""
    QApplication.processEvents()
    seen = (button for button in page.findChildren(QPushButton) if button.isVisible())
    return {button.text(): QRect(button.mapTo(page, QPoint()), button.size()) for button in seen}


@chosen("width", [1280, 700], {1280})
def test_no_button_moves_when_rows_are_chosen_or_the_trash_is_entered(
    window: MainWindow, page: SessionsPage, save: Save, qtbot: QtBot, width: int
) -> None:
    window.resize(width, 800)
    fill(page, save, qtbot, "whole", "broken off", "deleted")
    before = places(page)
    assert {"Resume", "Delete", "Restore"} <= before.keys()
    choose(page, "broken off")
    assert places(page) == before
    choose(page, "deleted")
    page.delete_chosen()
    qtbot.waitUntil(lambda: "deleted" not in names(page))
    assert places(page) == before
    page.show_view("trash")
    qtbot.waitUntil(lambda: names(page) == ["deleted"])
    assert places(page) == before
    choose(page, "deleted")
    assert places(page) == before


def test_what_cannot_be_done_in_the_trash_or_out_of_it_says_so_in_its_tip(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two")
    choose(page, "one")
    delete, restore = page._buttons["delete"], page._buttons["restore"]
    assert (delete.isEnabled(), restore.isEnabled()) == (True, False)
    assert "only in the trash" in restore.toolTip()
    page.delete_chosen()
    qtbot.waitUntil(lambda: names(page) == ["two"])
    page.show_view("trash")
    qtbot.waitUntil(lambda: names(page) == ["one"])
    choose(page, "one")
    assert (delete.isEnabled(), restore.isEnabled()) == (False, True)
    assert "not in the trash" in delete.toolTip()


def test_in_the_trash_no_key_deletes_or_renames_what_is_deleted_and_the_menu_offers_to_restore_it(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(sessions, "ask_name", lambda *given: asked.append(given))
    fill(page, save, qtbot, "one", "two")
    choose(page, "one")
    page.delete_chosen()
    qtbot.waitUntil(lambda: names(page) == ["two"])
    page.show_view("trash")
    qtbot.waitUntil(lambda: names(page) == ["one"])
    choose(page, "one")
    for key in ("sessions.delete", "sessions.rename"):
        window.trigger(key)
    page.controller.edits.wait()
    assert asked == []
    assert window.errors.text == "Deleted one. Ctrl+Z undoes it."
    page._open_menu(page.mapToGlobal(page.rect().center()))
    (menu,) = page.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)
    offered = [action.text() for action in menu.actions()]
    menu.close()
    assert offered[-1] == "Restore the chosen sessions"
    assert "Delete the chosen sessions" not in offered


@pytest.mark.matrix
def test_words_in_the_place_of_the_table_leave_the_page_unscrolled(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    window.resize(1280, 720)
    for view in ("sessions", "trend", "trash"):
        window.show_page(view)
        grab_whole(window)
        QApplication.processEvents()
    qtbot.waitUntil(page.words.isVisible)
    assert window._frames["sessions"].verticalScrollBar().maximum() == 0
