"""A session is named by its name, and not by its file, wherever one is meant."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from flashscope.app.cli import main
from flashscope.app.control.bundled import BUNDLED, NAMES, bundled_sessions
from flashscope.app.pages.sessions.columns import session_name
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.words.results.sessions import as_file_name
from flashscope.profiles.store import change, list_sessions
from tests.app.fakes import sweep
from tests.app.pages.compare.conftest import Desk
from tests.app.rig import Rig, Save, start_page

MOST_OTHERS = 5  # beside a baseline


@pytest.fixture
def named(save: Save) -> Path:
    path = save(sweep(), "the-file")
    change(path, "name", "before/after: the fan")
    return path


def test_every_recording_that_comes_with_the_program_has_its_name() -> None:
    names = {info.path.stem: info.name for info in list_sessions(BUNDLED)}
    assert names == NAMES
    assert {path.stem for path in bundled_sessions()} == names.keys()


@pytest.mark.matrix
def test_the_window_names_a_session_and_not_its_file(
    window: MainWindow, rig: Rig, named: Path, qtbot: QtBot
) -> None:
    rig.open(named)
    assert window.windowTitle().startswith("before/after: the fan")
    window.show_page("start")

    def opens() -> bool:
        buttons = start_page(window).findChildren(QPushButton)
        return ("before/after: the fan", "Open before/after: the fan") in {
            (button.text(), button.accessibleName()) for button in buttons
        }

    qtbot.waitUntil(opens)


@pytest.mark.matrix
def test_files_made_of_a_session_are_named_like_it(
    window: MainWindow, rig: Rig, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed: list[str] = []

    def choose_nothing(_window: object, _title: str, name: str, _filter: str) -> tuple[str, str]:
        proposed.append(name)
        return "", ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose_nothing)
    rig.open(named)
    window._files._save_copy()
    assert proposed == ["before-after- the fan.flashscope"]


@pytest.mark.parametrize(
    ("name", "file"),
    [("a/b", "a-b"), ("..", "session"), ("x\x00\n\u202ey", "x-y"), ("\udc80", "?"), ("ü" * 100, "ü" * 60)],
)
def test_a_name_becomes_one_that_a_file_can_have(name: str, file: str) -> None:
    assert as_file_name(name) == file


@pytest.mark.matrix
def test_what_is_too_much_to_compare_is_left_out_by_name(
    window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    page = Desk(window, qtbot).page
    paths = [save(sweep(points=1), f"file-{number}") for number in range(7)]
    change(paths[6], "name", "the seventh")
    with qtbot.waitSignal(page.lineup.refused) as refused:
        page.choose(paths)
    assert refused.args[0].endswith("left out: the seventh.")


def test_a_copy_of_a_recording_is_named_after_it(window: MainWindow, qtbot: QtBot) -> None:
    window._edit._copy(bundled_sessions()[0])
    page = window.pages["sessions"]
    assert isinstance(page, SessionsPage)
    name = f"{NAMES[bundled_sessions()[0].stem]} (copy)"
    qtbot.waitUntil(lambda: name in map(session_name, page.model.infos()))


@pytest.mark.matrix
def test_the_terminal_names_the_recordings(capsys: pytest.CaptureFixture[str]) -> None:
    files = list(map(str, bundled_sessions()))
    assert main(["show", files[0]]) == 0
    for place in range(1, len(files), MOST_OTHERS):
        assert main(["compare", files[0], *files[place : place + MOST_OTHERS]]) == 0
    assert main(["trend", str(BUNDLED), "--kernel", "flash2", "--seqlen", "8192"]) == 0
    told = capsys.readouterr().out
    assert not any(path.stem in told for path in bundled_sessions())
    assert all(name in told for name in NAMES.values())
