"""The line beside the tabs of Measure says which run is on show, and leads to the others."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.profile.run_chooser import ALONE, RunChooser, runs_beside
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.store import duplicate, trash
from tests.app.fakes import sweep
from tests.app.rig import Rig, Save
from tests.app.runs import save_runs


@pytest.fixture
def chooser(window: MainWindow) -> RunChooser:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    return page.runs


def test_a_run_is_named_and_another_one_is_shown_by_a_click(
    rig: Rig, window: MainWindow, chooser: RunChooser, qtbot: QtBot
) -> None:
    files = save_runs("before", 5)
    rig.open(files[-1])
    assert chooser.isVisible()
    assert chooser.text() == "run 5 of 5 ▾"
    chooser.click()
    qtbot.waitUntil(lambda: bool(chooser.findChildren(QMenu)))
    (menu,) = chooser.findChildren(QMenu)
    told = [(action.text(), action.isChecked()) for action in menu.actions()]
    assert [text.partition(" · ")[0] for text, _ in told] == [f"run {n} of 5" for n in range(1, 6)]
    assert [checked for _, checked in told] == [False] * 4 + [True]
    rig.opening(menu.actions()[1].trigger)
    menu.close()
    assert window.controller.path == files[1]
    assert chooser.text() == "run 2 of 5 ▾"


@pytest.mark.matrix
def test_a_session_that_is_alone_says_nothing_of_runs(
    rig: Rig, window: MainWindow, chooser: RunChooser, save: Save
) -> None:
    rig.open(save(sweep(), "alone"))
    assert chooser.isHidden()
    window.trigger("profile.runs")
    assert window.errors.text == ALONE


def test_the_runs_beside_one_are_those_in_its_folder_and_no_copies(tmp_path: Path) -> None:
    one, two, three = save_runs("before", 3, folder=tmp_path)
    copies = [duplicate(file, tmp_path) for file in (one, two)]
    trash(three)
    assert [info.path for info in runs_beside(one)] == [one, two]
    assert [info.path for info in runs_beside(copies[0])] == copies
