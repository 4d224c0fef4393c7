"""The window says the truth of a file that another program has moved, deleted or replaced."""

import threading
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.shell.main_window import REWRITTEN, MainWindow
from profiles.store import change
from tests.app.fakes import PLAN, sweep
from tests.app.shell.conftest import Rig, Save

THERE, GONE = (
    ("saved – Flashscope", "file · saved.flashscope"),
    (
        "saved (moved or deleted) – Flashscope",
        "file moved or deleted",
    ),
)


@pytest.fixture
def path(window: MainWindow, rig: Rig, save: Save, qtbot: QtBot) -> Path:
    """A file on show that the window has looked at."""
    path = save(sweep(), "saved")
    rig.open(path)
    assert told(window) == THERE
    qtbot.waitUntil(lambda: window.presence._first is not None)
    return path


def told(window: MainWindow) -> tuple[str, str]:
    return window.windowTitle(), window.status.file.text()


def says(window: MainWindow, qtbot: QtBot, expected: tuple[str, str]) -> None:
    window.presence.look()
    qtbot.waitUntil(lambda: told(window) == expected)


def test_a_file_that_is_moved_is_said_to_be_gone_until_it_is_back(
    window: MainWindow, path: Path, qtbot: QtBot
) -> None:
    elsewhere = path.rename(path.with_name("elsewhere"))
    says(window, qtbot, GONE)
    elsewhere.rename(path)
    says(window, qtbot, THERE)


def test_a_file_with_another_in_its_place_is_gone_until_that_one_is_opened(
    window: MainWindow, rig: Rig, path: Path, save: Save, qtbot: QtBot
) -> None:
    save(sweep(points=1), "other").replace(path)
    says(window, qtbot, GONE)
    rig.open(path)
    says(window, qtbot, THERE)


def test_a_folder_that_goes_takes_its_files_along(window: MainWindow, path: Path, qtbot: QtBot) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.touch()
    says(window, qtbot, GONE)


def test_a_file_that_nobody_can_ask_about_is_not_said_to_be_gone(
    window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def unanswered(_path: Path) -> None:
        asked.append(threading.current_thread() is threading.main_thread())
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("app.control.presence.identity", unanswered)
    window.presence.look()
    window.presence._chores.wait()
    assert asked == [False]
    assert told(window) == THERE


def test_a_recording_that_goes_on_in_another_file_is_named_by_it(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    rig.controller.run(PLAN)
    events = sweep()
    with qtbot.waitSignal(rig.controller.path_found):
        rig.say(events[:2])
    first = rig.controller.path
    assert first is not None
    first.rename(first.with_name("elsewhere"))
    first.write_text("another")
    rig.say(events[2:])
    qtbot.waitUntil(lambda: rig.controller.path != first)
    says(window, qtbot, (f"{first.stem}-2 – Flashscope", f"file · {first.stem}-2.flashscope"))
    assert window.settings.recents[0] == rig.controller.path


def test_a_note_that_another_window_writes_is_shown_and_said(
    window: MainWindow, path: Path, qtbot: QtBot
) -> None:
    window.presence.look()
    window.presence._chores.wait()
    qtbot.waitUntil(lambda: window.presence._written_ns is not None)
    change(path, "note", "from the other window")
    window.presence.look()
    qtbot.waitUntil(lambda: window.errors.text == REWRITTEN)
    session = window.controller.session
    assert session is not None
    assert session.note == "from the other window"
