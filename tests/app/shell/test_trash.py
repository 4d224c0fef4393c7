"""Deleted sessions, those that come with the program, and files that another process holds."""

import sqlite3
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from app.control.bundled import BUNDLED
from app.pages import sessions
from app.pages.sessions import NOTHING_DELETED, SessionsPage
from app.pages.sessions_model import session_name
from app.shell.main_window import MainWindow
from profiles.store import list_sessions, restore, sessions_dir
from tests.app.fakes import sweep
from tests.app.shell.conftest import Rig, Save
from tests.app.shell.test_sessions_page import choose, names


@pytest.fixture
def window(rig: Rig, save: Save) -> MainWindow:
    for name in ("one", "two"):
        save(sweep(points=1), name)
    return rig.window()


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> SessionsPage:
    window.show_page("sessions")
    window.activateWindow()
    found = window.pages["sessions"]
    assert isinstance(found, SessionsPage)
    qtbot.waitUntil(lambda: set(names(found)) == {"one", "two", *bundled()})
    return found


def bundled() -> dict[str, Path]:
    """The files that come with the program, by the names they are listed with."""
    return {session_name(info): info.path for info in list_sessions(BUNDLED)}


def test_the_recordings_that_come_with_the_program_are_listed_and_left_as_they_are(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    assert len(bundled()) > 1
    last = max(bundled())
    choose(page, last)
    assert [button.isEnabled() for button in page._buttons] == [True, True, False, False, False]
    page.delete_chosen()
    page._chores.wait()
    assert bundled()[last].exists()
    with qtbot.waitSignal(window.controller.session_changed):
        page.open_chosen()
    assert window.controller.path == bundled()[last]


def test_ctrl_z_brings_back_what_was_deleted_long_after_the_message_is_gone(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    for name in ("one", "two"):
        choose(page, name)
        page.delete_chosen()
        qtbot.waitUntil(lambda name=name: name not in names(page))  # type: ignore[misc]  # a default binds it
    window.errors.hide()
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: "two" in names(page))
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: "one" in names(page))
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.errors.text == NOTHING_DELETED


def test_a_session_brought_back_is_no_more_said_to_be_deleted(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    choose(page, "one")
    page.delete_chosen()
    qtbot.waitUntil(lambda: "Deleted one" in window.errors.text)
    page.undo_delete()
    qtbot.waitUntil(lambda: window.errors.text == "one is back.")
    assert not window.errors._act_button.isVisible()


def test_what_is_undone_once_cannot_be_undone_again_by_key_or_button(
    page: SessionsPage, window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def slowly(trashed: Path) -> Path:
        asked.append(trashed)
        return restore(trashed)

    monkeypatch.setattr(sessions, "restore", slowly)
    for first, second in ((page.undo_delete, "button"), (window.errors._act_button.click, "key")):
        asked.clear()
        choose(page, "one")
        page.delete_chosen()
        qtbot.waitUntil(lambda: "Deleted one" in window.errors.text)
        first()
        assert not window.errors.isVisible()
        if second == "button":
            window.errors._act_button.click()
        else:
            page.undo_delete()
            assert window.errors.text == NOTHING_DELETED
        qtbot.waitUntil(lambda: window.errors.text == "one is back.")
        qtbot.waitUntil(lambda: "one" in names(page))
        assert len(asked) == 1


def test_the_undo_of_a_delete_stays_when_another_session_is_restored(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    offered: list[object] = []
    page.undone.connect(offered.append)
    for name in ("one", "two"):
        choose(page, name)
        page.delete_chosen()
        qtbot.waitUntil(lambda name=name: f"Deleted {name}" in window.errors.text)  # type: ignore[misc]
    page.trash.click()
    qtbot.waitUntil(lambda: set(names(page)) == {"one", "two"})
    choose(page, "one")
    page.restore_chosen()
    assert len(offered) == 1
    assert "Deleted two" in window.errors.text
    assert window.errors._act_button.isVisible()
    qtbot.waitUntil(lambda: names(page) == ["two"])


def test_the_trash_can_be_opened_and_restored_from(page: SessionsPage, qtbot: QtBot) -> None:
    choose(page, "one")
    page.delete_chosen()
    qtbot.waitUntil(lambda: "one" not in names(page))
    page.trash.click()
    qtbot.waitUntil(lambda: names(page) == ["one"])
    choose(page, "one")
    assert not page._buttons[-1].isVisible()
    page._restore_button.click()
    qtbot.waitUntil(lambda: names(page) == [])
    page.trash.click()
    qtbot.waitUntil(lambda: {"one", "two"} <= set(names(page)))


def test_a_file_that_another_process_holds_does_not_hold_the_window(
    page: SessionsPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def held(_path: Path, _text: str) -> None:
        asked.append(threading.current_thread() is threading.main_thread())

    monkeypatch.setattr(sessions, "rename", held)
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("another", True))
    choose(page, "one")
    page.rename_chosen()
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [False]


def test_what_cannot_be_changed_is_told(
    page: SessionsPage, window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = sqlite3.connect(sessions_dir() / "one.flashscope", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("another", True))
    choose(page, "one")
    page.rename_chosen()
    qtbot.waitUntil(lambda: "being recorded" in window.errors.text)
    writer.close()
