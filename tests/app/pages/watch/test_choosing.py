"""Which kernel of one's own is watched, where there are several or it runs elsewhere."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from flashscope.app.shell.main_window import MainWindow
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


@pytest.mark.matrix
def test_a_kernel_that_runs_elsewhere_is_refused_in_words(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    bring(window, qtbot, cuda_file(tmp_path))
    window.trigger("profile.watch")
    qtbot.waitUntil(lambda: "rows runs on cuda alone" in window.errors.text)
