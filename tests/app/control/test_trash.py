"""Deleted sessions, those that come with the program, and files that another process holds."""

import sqlite3
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.control import steps
from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.edits import NOTHING_CHANGED
from flashscope.app.pages.sessions.columns import session_name
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.dialogs.line import LineDialog
from flashscope.profiles.store import list_sessions, load, restore, sessions_dir, trash
from flashscope.profiles.store.library import TRASH
from tests.app.fakes import sweep
from tests.app.pages.sessions.conftest import choose, names
from tests.app.rig import Rig, Save


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


@pytest.mark.matrix
def test_the_recordings_that_come_with_the_program_are_listed_and_left_as_they_are(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    assert len(bundled()) > 1
    last = max(bundled())
    choose(page, last)
    page.delete_chosen()
    qtbot.waitUntil(lambda: "comes with Flashscope" in window.errors.text)
    assert bundled()[last].exists()
    assert window.errors._act_button.text() == "Save a copy"
    with qtbot.waitSignal(window.controller.session_changed):
        page.open_chosen()
    assert window.controller.path == bundled()[last]


@pytest.mark.matrix
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
    assert window.errors.text == NOTHING_CHANGED


@pytest.mark.matrix
def test_several_of_which_one_stays_as_it_is_are_not_all_said_to_be_deleted(
    page: SessionsPage, qtbot: QtBot
) -> None:
    page.table.choose({info.path for info in page.model.infos() if session_name(info) in {"one", *bundled()}})
    with qtbot.waitSignal(page.controller.edits.made) as made:
        page.delete_chosen()
    assert made.args is not None
    asked = len(bundled()) + 1
    assert made.args[0].startswith(f"Deleted {asked} sessions, but for {asked - 1}.")


@pytest.mark.matrix
def test_a_session_brought_back_is_no_more_said_to_be_deleted(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    choose(page, "one")
    page.delete_chosen()
    qtbot.waitUntil(lambda: "Deleted one" in window.errors.text)
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: window.errors.text == "Undone: Deleted one.")
    assert not window.errors._act_button.isVisible()


@pytest.mark.matrix
def test_what_is_undone_once_cannot_be_undone_again_by_key_or_button(
    page: SessionsPage, window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def slowly(trashed: Path, home: Path | None) -> Path:
        asked.append(trashed)
        return restore(trashed, home)

    monkeypatch.setattr(steps, "restore", slowly)
    for first, second in ((page.controller.edits.undo, "button"), (window.errors._act_button.click, "key")):
        asked.clear()
        choose(page, "one")
        page.delete_chosen()
        qtbot.waitUntil(lambda: window.errors.text.startswith("Deleted one"))
        first()
        assert not window.errors.isVisible()
        if second == "button":
            window.errors._act_button.click()
        else:
            page.controller.edits.undo()
            assert window.errors.text == NOTHING_CHANGED
        qtbot.waitUntil(lambda: window.errors.text == "Undone: Deleted one.")
        qtbot.waitUntil(lambda: "one" in names(page))
        assert len(asked) == 1


@pytest.mark.matrix  # it takes a second
def test_a_restored_session_goes_back_to_the_trash_with_ctrl_z(page: SessionsPage, qtbot: QtBot) -> None:
    choose(page, "one")
    page.delete_chosen()
    qtbot.waitUntil(lambda: "one" not in names(page))
    page.show_view("trash")
    qtbot.waitUntil(lambda: names(page) == ["one"])
    choose(page, "one")
    page.restore_chosen()
    qtbot.waitUntil(lambda: names(page) == [])
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: names(page) == ["one"])


@pytest.mark.matrix
def test_deleting_and_restoring_twice_at_once_is_doing_it_once(page: SessionsPage, qtbot: QtBot) -> None:
    said, failed = recorded(page)
    choose(page, "one")
    for _ in range(3):
        page.delete_chosen()
    qtbot.waitUntil(lambda: "one" not in names(page))
    page.show_view("trash")
    qtbot.waitUntil(lambda: names(page) == ["one"])
    choose(page, "one")
    for _ in range(3):
        page.restore_chosen()
    qtbot.waitUntil(lambda: names(page) == [])
    page.controller.edits.wait()
    QCoreApplication.processEvents()
    assert said == ["Deleted one. Ctrl+Z undoes it.", "Restored one. Ctrl+Z undoes it."]
    assert failed == []


@pytest.mark.matrix
def test_what_another_program_took_away_is_told(page: SessionsPage, qtbot: QtBot) -> None:
    _said, failed = recorded(page)
    choose(page, "one")
    (sessions_dir() / "one.flashscope").unlink()
    page.delete_chosen()
    qtbot.waitUntil(lambda: bool(failed))


def recorded(page: SessionsPage) -> tuple[list[str], list[str]]:
    """What is said of changes from now on, and of those that cannot be made."""
    said: list[str] = []
    failed: list[str] = []
    page.controller.edits.made.connect(lambda words, _undo: said.append(words))
    page.controller.edits.failed.connect(lambda words, _details: failed.append(words))
    return said, failed


@pytest.mark.matrix  # it takes a second
def test_ctrl_z_right_after_a_delete_undoes_that_delete(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    choose(page, "two")
    page.delete_chosen()
    qtbot.waitUntil(lambda: "two" not in names(page))
    choose(page, "one")
    page.delete_chosen()
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: window.errors.text == "Undone: Deleted one.")
    qtbot.waitUntil(lambda: "one" in names(page))
    assert "two" not in names(page)


@pytest.mark.matrix  # it takes a second
def test_the_trash_can_be_opened_and_restored_from(page: SessionsPage, qtbot: QtBot) -> None:
    choose(page, "one")
    page.delete_chosen()
    qtbot.waitUntil(lambda: "one" not in names(page))
    page.show_view("trash")
    qtbot.waitUntil(lambda: names(page) == ["one"])
    choose(page, "one")
    assert not page._buttons["delete"].isEnabled()
    page._buttons["restore"].click()
    qtbot.waitUntil(lambda: names(page) == [])
    page.show_view("sessions")
    qtbot.waitUntil(lambda: {"one", "two"} <= set(names(page)))


@pytest.mark.matrix
def test_a_file_that_another_process_holds_does_not_hold_the_window(
    page: SessionsPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def held(*_: object) -> None:
        asked.append(threading.current_thread() is threading.main_thread())

    monkeypatch.setattr(steps, "change", held)
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: ("another", True))
    choose(page, "one")
    page.rename_chosen()
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [False]


def test_what_cannot_be_changed_is_told(
    page: SessionsPage, window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = sqlite3.connect(sessions_dir() / "one.flashscope", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: ("another", True))
    choose(page, "one")
    page.rename_chosen()
    qtbot.waitUntil(lambda: "being recorded" in window.errors.text)
    writer.close()


@pytest.mark.matrix
def test_what_could_not_be_undone_is_not_done_again_to_a_file_that_took_its_place(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    edits, path = page.controller.edits, sessions_dir() / "one.flashscope"
    for words, step in (("Deleted", steps.Deleted(path)), ("Restored", None)):
        with qtbot.waitSignal(edits.made):
            edits.do(words, [step or steps.Restored(path.parent / TRASH / path.name)])
    path.unlink()
    for _ in range(2):
        with qtbot.waitSignal(edits.failed):
            edits.undo()
    save(sweep(points=2), "one")
    before = path.read_bytes()
    for _ in range(2):
        with qtbot.waitSignal(edits.failed):
            edits.redo()
    assert path.read_bytes() == before


@pytest.mark.matrix
def test_a_session_comes_back_by_its_own_name_though_another_one_in_the_trash_has_it(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    edits, path = page.controller.edits, sessions_dir() / "one.flashscope"
    trash(path)
    save(sweep(points=2), "one")
    for words, step in (
        ("Renamed", steps.WordsChanged(path, "name", "", "mine")),
        ("Deleted", steps.Deleted(path)),
    ):
        with qtbot.waitSignal(edits.made):
            edits.do(words, [step])
    for _ in range(2):
        with qtbot.waitSignal(edits.turned):
            edits.undo()
    assert load(path).name == ""
    for act in (edits.redo, edits.redo, edits.undo):
        with qtbot.waitSignal(edits.turned):
            act()
    assert load(path).name == "mine"


@pytest.mark.matrix
def test_undoing_a_change_of_a_file_that_another_program_has_deleted_is_told(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    edits, path = page.controller.edits, sessions_dir() / "one.flashscope"
    for words, step in (("Tagged", ("tags", (), ("x",))), ("Renamed", ("name", "", "mine"))):
        with qtbot.waitSignal(edits.made):
            edits.do(words, [steps.WordsChanged(path, *step)])
    path.unlink()
    for _ in range(2):
        window.errors.hide()
        with qtbot.waitSignal(edits.touched):
            edits.undo()
        assert "one.flashscope cannot be used: No such file" in window.errors.text
    with qtbot.waitSignal(edits.failed):
        edits.do("Renamed", [steps.WordsChanged(path, "name", "", "again")])
