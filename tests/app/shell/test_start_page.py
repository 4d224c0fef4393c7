"""The start page: every recording that comes with the program, and recents by the names given to them."""

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.control.bundled import BUNDLED, NAMES, bundled_sessions
from app.control.settings import Settings
from app.shell.main_window import MainWindow
from profiles.store import change
from tests.app.fakes import sweep
from tests.app.shell.conftest import Rig, Save


def test_each_recording_that_comes_with_the_program_can_be_opened(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    assert {path.name for path in bundled_sessions()} == {path.name for path in BUNDLED.iterdir()}
    for path in bundled_sessions():
        window.show_page("start")
        buttons = window.start_page.findChildren(QPushButton)
        button = next(one for one in buttons if one.accessibleName() == f"Open {NAMES[path.stem]}")
        rig.opening(button.click)
        assert rig.controller.path == path


def test_recents_show_the_names_that_were_given(window: MainWindow, rig: Rig, save: Save) -> None:
    named, plain = save(sweep(), "one"), save(sweep(), "two")
    change(named, "name", "before & after\nthe fan")
    for path in (named, plain):
        rig.open(path)
    window.show_page("start")
    texts = [button.text() for button in window.start_page.findChildren(QPushButton)]
    assert "before && after the fan" in texts
    assert "two" in texts
    assert Settings().recent_name(named) == "before & after\nthe fan"
