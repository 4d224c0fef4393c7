"""Which kernel of one's own is watched, where there are several or it runs elsewhere."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from flashscope.app.pages.watch import WatchPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.words.own.watching import NOTHING_TO_WATCH
from tests.app.own_files import cuda_file, python_file
from tests.app.pages.watch.scene import bring
from tests.app.rig import Rig


def test_of_several_kernels_the_action_lets_one_choose(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path
) -> None:
    bring(window, qtbot, python_file(tmp_path), python_file(tmp_path, "other"))
    window.trigger("profile.watch")
    [menu] = [one for one in window.findChildren(QMenu) if one.isVisible()]
    assert [action.text() for action in menu.actions()] == ["Watch mine", "Watch other"]
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(rig.engine.plans))
    assert rig.engine.plans[0].kernels[0] == "other-v1"


def test_where_there_is_no_kernel_to_watch_the_button_says_that_one_has_to_be_brought(
    window: MainWindow,
) -> None:
    window.show_page("watch")
    page = window.page
    assert isinstance(page, WatchPage)
    watch, _bring = page.empty.findChildren(QPushButton)
    watch.click()
    assert window.page is page
    assert window.errors.text == NOTHING_TO_WATCH


@pytest.mark.matrix
def test_a_kernel_that_runs_elsewhere_is_refused_in_words(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    bring(window, qtbot, cuda_file(tmp_path))
    window.trigger("profile.watch")
    qtbot.waitUntil(lambda: "rows runs on cuda alone" in window.errors.text)
