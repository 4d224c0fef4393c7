"""The window says the truth of a file that another program has moved, deleted or replaced."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.notices import REWRITTEN
from flashscope.profiles.store import change
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save

THERE, GONE = (
    ("saved – Flashscope", "file · saved.flashscope"),
    (
        "saved (moved or deleted) – Flashscope",
        "file moved or deleted",
    ),
)
REPLACED = ("saved (replaced) – Flashscope", "file replaced")


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
    window.presence._chores.wait()
    QCoreApplication.processEvents()
    assert told(window) == expected, "it does not stay so"


@pytest.mark.matrix
def test_a_file_that_is_moved_is_said_to_be_gone_until_it_is_back(
    window: MainWindow, path: Path, qtbot: QtBot
) -> None:
    elsewhere = path.rename(path.with_name("elsewhere"))
    says(window, qtbot, GONE)
    elsewhere.rename(path)
    says(window, qtbot, THERE)


def replace_whole(other: Path, path: Path) -> None:
    other.replace(path)


def write_into(other: Path, path: Path) -> None:
    """As `cp` does: the file stays the same one."""
    path.write_bytes(other.read_bytes())


@pytest.mark.matrix
@pytest.mark.parametrize("put", [replace_whole, write_into])
def test_a_replaced_file_is_told_and_loaded_when_the_user_wants_it(
    *, window: MainWindow, rig: Rig, path: Path, save: Save, qtbot: QtBot, put: Callable[[Path, Path], None]
) -> None:
    shown = window.controller.session
    looked(window, qtbot)
    events = sweep(points=1)
    other = save([msgspec.structs.replace(events[0], session_id="b" * 32), *events[1:]], "other")
    change(other, "name", "another")
    put(other, path)
    says(window, qtbot, REPLACED)
    assert window.controller.session is shown
    assert shown is not None
    assert (shown.name, shown.ended_points) == ("", 6)
    assert window.errors.text.startswith("saved.flashscope was replaced or written by another program")
    rig.opening(window.errors._act_button.click)
    assert window.controller.session is not shown
    says(window, qtbot, ("another – Flashscope", THERE[1]))


@pytest.mark.matrix
def test_a_sweep_that_another_program_has_gone_on_with_is_told(
    window: MainWindow, path: Path, qtbot: QtBot
) -> None:
    looked(window, qtbot)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE session SET ended_ns = ended_ns + 1")
    says(window, qtbot, REPLACED)


@pytest.mark.matrix
def test_what_is_no_session_any_more_is_told_and_the_shown_one_kept(
    window: MainWindow, path: Path, qtbot: QtBot
) -> None:
    looked(window, qtbot)
    path.write_bytes(b"nothing of the kind")
    says(window, qtbot, REPLACED)
    assert window.controller.session is not None


@pytest.mark.matrix
def test_a_file_that_is_written_while_it_is_recorded_is_told_when_that_has_ended(
    window: MainWindow, path: Path, qtbot: QtBot
) -> None:
    looked(window, qtbot)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE session SET id = ?", ("c" * 32,))
        writer.execute("BEGIN IMMEDIATE")
        window.presence.look()
        window.presence._chores.wait()
        QCoreApplication.processEvents()
        window.presence._chores.wait()
        assert told(window) == THERE
        writer.execute("UPDATE session SET note = 'more'")
        writer.execute("COMMIT")
    says(window, qtbot, REPLACED)


def looked(window: MainWindow, qtbot: QtBot) -> None:
    """Have the file looked at once, so that the next look knows whether it was written."""
    window.presence.look()
    qtbot.waitUntil(lambda: window.presence._written_ns is not None)


@pytest.mark.matrix
def test_a_folder_that_goes_takes_its_files_along(window: MainWindow, path: Path, qtbot: QtBot) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.touch()
    says(window, qtbot, GONE)


@pytest.mark.matrix
def test_a_file_that_nobody_can_ask_about_is_not_said_to_be_gone(
    window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def unanswered(_path: Path) -> None:
        asked.append(threading.current_thread() is threading.main_thread())
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("flashscope.app.control.presence.identity", unanswered)
    window.presence.look()
    window.presence._chores.wait()
    assert asked == [False]
    assert told(window) == THERE


@pytest.mark.matrix
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


@pytest.mark.matrix
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
