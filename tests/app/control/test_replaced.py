"""A file that another session has taken the place of: nothing is done to it, and no words are lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.pages.sessions.rows import SessionRow
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.dialogs.line import LineDialog
from flashscope.app.widgets.dialogs.note import NoteDialog
from flashscope.profiles.store import load
from tests.app.fakes import sweep
from tests.app.rig import Rig, Save
from tests.app.shell.test_files import _write
from tests.matrix import chosen

SAID = "saved.flashscope was replaced or written by another program and does not hold what is on show"


@pytest.fixture
def path(window: MainWindow, rig: Rig, save: Save) -> Path:
    """The file on show, which holds another session by now."""
    path = save(sweep(), "saved")
    rig.open(path)
    put_another(path, save)
    return path


def put_another(path: Path, save: Save) -> None:
    first, *others = sweep(points=1)
    save([replace(first, session_id="b" * 32), *others], "other").replace(path)


def note(window: MainWindow, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Type a note on a point."""
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    page.bottom.notes.point = 3
    monkeypatch.setattr(NoteDialog, "ask", lambda *_: (words, True))
    page.bottom.notes.note_point()


def kept(path: Path) -> Callable[[], bool]:
    """Whether a file is as it is now."""
    before = path.read_bytes()
    return lambda: path.read_bytes() == before


@pytest.mark.matrix
def test_no_copy_is_saved_of_what_is_not_on_show(
    *, window: MainWindow, rig: Rig, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.flashscope"
    target.write_text("mine")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    _write(window, "save-copy")
    assert window.errors.text.startswith(SAID)
    assert target.read_text() == "mine"
    rig.opening(window.errors._act_button.click)
    assert rig.controller.session is not None
    assert rig.controller.session.id == "b" * 32
    _write(window, "save-copy")
    assert window.errors.text == "Saved a copy as copy.flashscope."
    assert load(target).id == "b" * 32


@pytest.mark.matrix
def test_no_picture_is_drawn_of_what_is_not_on_show(
    window: MainWindow, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "picture.svg"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    _write(window, "export", "svg")
    assert window.errors.text.startswith(SAID)
    assert not target.exists()


@pytest.mark.matrix
def test_the_figures_on_show_are_exported_all_the_same(
    window: MainWindow, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "table.csv"), ""))
    _write(window, "export")
    assert window.errors.text == "Exported 6 points to table.csv."


@pytest.mark.matrix
def test_a_note_is_not_written_into_another_session_and_its_words_can_be_had_back(
    window: MainWindow, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = kept(path)
    note(window, "the fan was loud", monkeypatch)
    qtbot.waitUntil(lambda: window.errors.text.startswith(SAID))
    assert window.errors._details == "Not written: the fan was loud"
    assert window.errors._act_button.text() == "Reload"
    assert same()


@pytest.mark.matrix
def test_words_that_were_not_written_stay_when_the_file_is_seen_to_be_another(
    *, window: MainWindow, rig: Rig, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(sweep(), "saved")
    rig.open(path)
    presence = window.presence
    presence._timer.stop()
    presence.look()
    qtbot.waitUntil(lambda: presence._first is not None)
    put_another(path, save)
    note(window, "the fan was loud", monkeypatch)
    qtbot.waitUntil(lambda: window.errors.text.startswith(SAID))
    with qtbot.waitSignal(presence.changed):
        presence.look()
    assert presence.state == "replaced"
    assert window.errors.text.startswith(SAID)
    assert window.errors._details == "Not written: the fan was loud"


@pytest.mark.matrix
def test_a_note_is_not_taken_back_from_another_session(
    *, window: MainWindow, rig: Rig, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(sweep(), "saved")
    rig.open(path)
    with qtbot.waitSignal(rig.controller.edits.made):
        note(window, "loud", monkeypatch)
    put_another(path, save)
    same = kept(path)
    said: list[str] = []  # the line of the window may say something else by then
    rig.controller.error_raised.connect(lambda text, _details: said.append(text))
    rig.controller.edits.undo()
    qtbot.waitUntil(lambda: bool(said))
    assert said[0].startswith(SAID)
    assert same()


@chosen(
    "verb,dialog",
    [("rename_chosen", LineDialog), ("note_chosen", NoteDialog)],
    {("rename_chosen", LineDialog)},
)
def test_a_listed_session_is_not_named_or_annotated_in_anothers_place(
    *,
    window: MainWindow,
    save: Save,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    dialog: type,
) -> None:
    path = save(sweep(), "saved")
    page = window.pages["sessions"]
    assert isinstance(page, SessionsPage)
    page.refresh()
    qtbot.waitUntil(lambda: any(info.path == path for info in page.model.infos()))
    info = next(info for info in page.model.infos() if info.path == path)
    monkeypatch.setattr(page, "chosen_row", lambda: SessionRow.of(info))
    put_another(path, save)
    same = kept(path)
    monkeypatch.setattr(dialog, "ask", lambda *_, **__: ("mine", True))
    getattr(page, verb)()
    qtbot.waitUntil(lambda: window.errors.text.startswith(SAID))
    assert window.errors._details == "Not written: mine"
    assert same()
