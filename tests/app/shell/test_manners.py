"""Small things that one who uses the window relies on."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from tests.app.fakes import GPU_MACHINE, sweep
from tests.app.rig import Rig, Save
from tests.profiles.sessions import make_plan


def page_of(window: MainWindow) -> ProfilePage:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    return page


@pytest.mark.matrix
def test_a_letter_is_a_shortcut_while_a_number_field_has_the_focus(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("profile")
    window.activateWindow()
    page = page_of(window)
    field = page.form.heads
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    field.selectAll()
    QTest.keyClicks(field, "12")
    QTest.keyClick(field, Qt.Key.Key_R)
    assert field.value() == 12
    assert window.view == "results"
    QTest.keyClick(field, Qt.Key.Key_P)
    assert page.form.isHidden()


@pytest.mark.matrix
def test_beside_a_recording_of_another_machine_the_status_bar_says_whose_memory_it_tells(
    window: MainWindow, rig: Rig, save: Save, qtbot: QtBot
) -> None:
    window.status.refresh()
    qtbot.waitUntil(lambda: bool(rig.controller.live_readings))
    window.status.refresh()
    assert "this machine" not in window.status.device.text() + window.status.memory.text()
    rig.open(save(sweep(machine=GPU_MACHINE, plan=make_plan(("flash2",), (256,))), "elsewhere"))
    window.status.refresh()
    assert (window.status.device.text() or window.status.memory.text()).startswith("this machine: ")
