"""A story that is edited in a window."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.shell.editor import thumbnails
from flashscope.app.shell.editor.window import StoryEditor
from flashscope.app.shell.main_window import MainWindow
from tests.app.fakes import sweep
from tests.app.rig import NEVER_MS, Rig, Save

Key, Ctrl, Alt, Shift = (
    Qt.Key,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
THREE = 'title = "Three"\n' + "".join(
    f'\n[[stop]]\npage = "profile"\ntitle = "{title}"\nsession = "swept.flashscope"\n'
    f'quantity = "{title}"\nkernels = ["standard", "flash2"]\nseqlen = 512\nnotes = "About {title}."\n'
    f'sentence = "flash2 takes {{runtime of flash2}} at {{n}}"\n'
    for title in ("footprint", "runtime", "throughput")
)


@pytest.fixture(autouse=True)
def no_picture_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """By another process, for which most tests need not wait."""
    monkeypatch.setattr(thumbnails, "IDLE_MS", NEVER_MS)


@pytest.fixture
def session(save: Save) -> Path:
    """A session that has been measured."""
    return save(sweep(), "swept")


@pytest.fixture
def story(session: Path) -> Path:
    """Three stops of it, in a file beside it."""
    path = session.with_name("three.toml")
    path.write_text(THREE)
    return path


@pytest.fixture
def editor(window: MainWindow, story: Path) -> StoryEditor:
    """A window that has this story."""
    window.writing.edit(story)
    return window.writing.editor


@pytest.fixture
def shown(window: MainWindow, rig: Rig, session: Path) -> MainWindow:
    """A window that shows the curves of the session."""
    rig.open(session)
    window.show_page("profile")
    return window


Choose = Callable[[Path | None], list[str]]


@pytest.fixture
def save_to(monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Answers the dialog that asks for a file to write; gives the titles of those that asked."""
    asked: list[str] = []

    def choose(path: Path | None) -> list[str]:
        def answer(_parent: object, title: str, *_rest: object, **_options: object) -> tuple[str, str]:
            asked.append(title)
            return str(path or ""), ""

        monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
        return asked

    return choose


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Answers a question by the text of a button; gives the questions that were asked."""
    asked: list[str] = []

    def choose(text: str) -> list[str]:
        def press(box: QMessageBox) -> None:
            asked.append(box.text())
            next(button for button in box.buttons() if button.text() == text).click()

        monkeypatch.setattr(QMessageBox, "exec", press)
        return asked

    return choose


def titles(editor: StoryEditor) -> list[str]:
    return [stop.title for stop in editor.desk.draft.stops]


def press(
    widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    QTest.keyClick(widget, key, modifiers)


def focus(widget: QWidget, qtbot: QtBot) -> None:
    widget.window().activateWindow()
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
