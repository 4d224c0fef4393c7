"""Names, notes, tags and copies of the files, and how they are undone."""

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions.asking import NO_NAME
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.dialogs.line import LineDialog
from flashscope.app.widgets.dialogs.note import NoteDialog
from flashscope.profiles.store import change, load, sessions_dir
from tests.app.pages.sessions.conftest import choose, choose_all, fill, names
from tests.app.rig import Rig, Save


def test_a_deleted_session_comes_back_with_undo(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two")
    choose(page, "one")
    page.delete_chosen()
    qtbot.waitUntil(lambda: names(page) == ["two"], timeout=60_000)
    assert window.errors.text == "Deleted one. Ctrl+Z undoes it."
    window.errors._act_button.click()
    qtbot.waitUntil(lambda: sorted(names(page)) == ["one", "two"], timeout=60_000)


def test_the_neighbour_of_a_deleted_session_is_chosen_and_then_what_came_back(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two", "three")
    first, second, third = names(page)
    choose(page, second)
    page.delete_chosen()
    qtbot.waitUntil(lambda: _chosen(page) == [third], timeout=60_000)
    page.delete_chosen()
    qtbot.waitUntil(lambda: _chosen(page) == [first], timeout=60_000)
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: _chosen(page) == [third], timeout=60_000)
    page.controller.edits.redo()
    qtbot.waitUntil(lambda: _chosen(page) == [first], timeout=60_000)


def _chosen(page: SessionsPage) -> list[str]:
    return [row.called for row in page.chosen_rows()]


def test_a_blank_name_takes_the_name_away_or_says_that_nothing_was_renamed(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: ("   ", True))
    page.rename_chosen()
    assert window.errors.text == NO_NAME
    assert not page.controller.edits.stack.count()
    change(sessions_dir() / "one.flashscope", "name", "mine")
    page.refresh()
    qtbot.waitUntil(lambda: names(page) == ["mine"], timeout=60_000)
    page.rename_chosen()
    qtbot.waitUntil(lambda: names(page) == ["one"], timeout=60_000)
    assert window.errors.text == "Took away the name of mine. Ctrl+Z undoes it."


def test_a_renamed_session_keeps_its_file(
    page: SessionsPage, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: ("the good one", True))
    page.rename_chosen()
    qtbot.waitUntil(lambda: names(page) == ["the good one"], timeout=60_000)
    assert load(sessions_dir() / "one.flashscope").name == "the good one"


@pytest.mark.matrix
def test_a_renamed_session_stays_in_view_where_its_name_has_it(
    page: SessionsPage, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, *(f"s{number:02}" for number in range(30)))
    page.table.setFixedHeight(200)
    page.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    choose(page, "s01")
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: ("zz", True))
    page.rename_chosen()
    qtbot.waitUntil(lambda: names(page)[-1] == "zz", timeout=60_000)
    assert _chosen(page) == ["zz"]
    table = page.table
    qtbot.waitUntil(lambda: table.viewport().rect().intersects(table.visualRect(table.currentIndex())))


def test_a_note_is_written_into_the_file(
    page: SessionsPage, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    monkeypatch.setattr(NoteDialog, "ask", lambda *_: ("before the fan broke", True))
    page.note_chosen()
    page.controller.edits.wait()
    assert load(sessions_dir() / "one.flashscope").note == "before the fan broke"


def answer(text: str | None) -> None:
    """Type this in place of what the dialog holds, once it is open, and accept it; None: as it is."""

    def act() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, LineDialog | NoteDialog)
        editor = dialog.findChild(QPlainTextEdit) or dialog.findChild(QLineEdit)
        assert isinstance(editor, QPlainTextEdit | QLineEdit)
        if text is not None:
            QApplication.clipboard().setText(text)
            editor.selectAll()
            editor.paste()
        dialog.accept()

    QTimer.singleShot(0, act)


@pytest.mark.matrix
def test_a_long_note_of_several_lines_is_kept_whole(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    note = "a line\n" * 10_000
    answer(note)
    page.note_chosen()
    qtbot.waitUntil(lambda: load(sessions_dir() / "one.flashscope").note == note, timeout=60_000)


@pytest.mark.matrix
def test_a_name_or_a_note_left_as_it_is_changes_nothing(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    before = (sessions_dir() / "one.flashscope").read_bytes()
    for ask in (page.rename_chosen, page.note_chosen):
        answer(None)
        ask()
    assert (sessions_dir() / "one.flashscope").read_bytes() == before
    assert load(sessions_dir() / "one.flashscope").name == ""


@pytest.mark.matrix
def test_a_note_that_is_too_long_is_refused_with_the_number(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    answer("x" * 100_001)
    with qtbot.waitSignal(page.controller.error_raised, timeout=60_000):
        page.note_chosen()
    assert window.errors.text == "The note has 100001 characters; 100000 are allowed."


@pytest.mark.matrix
def test_several_rows_are_deleted_at_once_and_come_back_at_once(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two", "three")
    choose_all(page, "one", "three")
    page.delete_chosen()
    qtbot.waitUntil(lambda: names(page) == ["two"])
    assert window.errors.text == "Deleted 2 sessions. Ctrl+Z undoes it."
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: set(names(page)) == {"one", "two", "three"})
    page.controller.edits.redo()
    qtbot.waitUntil(lambda: names(page) == ["two"])


def test_tags_are_written_filtered_by_searched_and_undone(
    page: SessionsPage, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one", "two", "three")
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: ("release, night", True))
    choose_all(page, "one", "two")
    page.tag_chosen()
    qtbot.waitUntil(lambda: page.model.tags == ["night", "release"])
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: ("-night", True))
    choose_all(page, "one", "two")
    page.tag_chosen()
    qtbot.waitUntil(lambda: page.tag.count() == 2)
    page.tag.setCurrentIndex(1)
    assert set(names(page)) == {"one", "two"}
    page.tag.setCurrentIndex(0)
    page.search.setText("relea")
    assert set(names(page)) == {"one", "two"}
    page.search.clear()
    page.controller.edits.undo()
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: page.model.tags == [])
    assert load(sessions_dir() / "one.flashscope").tags == ()


@pytest.mark.matrix
def test_the_name_of_the_session_on_show_follows_and_is_undone(
    page: SessionsPage, rig: Rig, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one")
    window = page.window()
    rig.open(sessions_dir() / "one.flashscope")
    choose(page, "one")
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: ("the good one", True))
    page.rename_chosen()
    qtbot.waitUntil(lambda: window.windowTitle() == "the good one – Flashscope")
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: window.windowTitle() == "one – Flashscope")


def test_a_duplicate_appears_with_a_name_of_its_own(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    page.copy_chosen()
    qtbot.waitUntil(lambda: set(names(page)) == {"one", "one (copy)"})


def test_a_change_that_another_program_came_before_is_told_and_nothing_overwritten(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")

    def meanwhile(*_: object, **__: object) -> tuple[str, bool]:
        change(sessions_dir() / "one.flashscope", "note", "theirs")
        return "mine", True

    monkeypatch.setattr(NoteDialog, "ask", meanwhile)
    page.note_chosen()
    qtbot.waitUntil(lambda: "Another program has changed the note" in window.errors.text)
    assert load(sessions_dir() / "one.flashscope").note == "theirs"
    assert not page.controller.edits.stack.canUndo()
