"""On a stage a click goes on and one with the other button back, but on a control, which it works."""

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile.staging import ProfileStaging
from flashscope.app.shell.main_window import MainWindow
from tests.app.fakes import sweep
from tests.app.rig import Rig, Save
from tests.app.shell.presenter.conftest import Key, press, profile, settle, shown_plots

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


def click(window: MainWindow, on: QWidget, button: Qt.MouseButton = LEFT) -> None:
    """Click in the middle of a widget, as the system tells of it."""
    place = on.mapTo(window, on.rect().center())
    QTest.mouseClick(window.windowHandle(), button, Qt.KeyboardModifier.NoModifier, place)


def test_a_click_goes_on_and_one_with_the_right_button_back(
    staged: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    seen = []
    for button in (LEFT, LEFT, RIGHT):
        click(staged, profile(staged).plots.cells[0].plot, button)
        settle(staged, rig, qtbot)
        seen += shown_plots(staged)
    assert seen == ["runtime", "throughput", "runtime"]


@pytest.mark.matrix
def test_a_click_on_the_sentence_goes_on_and_opens_no_menu(
    staged: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    click(staged, staged.stage.frame.sentence)
    settle(staged, rig, qtbot)
    click(staged, staged.stage.frame.sentence, RIGHT)
    settle(staged, rig, qtbot)
    assert staged.stage.at == 0


@pytest.mark.matrix
def test_a_click_on_a_name_of_the_legend_hides_its_curve_and_stays_at_the_stop(staged: MainWindow) -> None:
    staging = profile(staged).staging
    assert isinstance(staging, ProfileStaging)
    name = staging.legend.findChildren(QPushButton)[0]
    click(staged, name)
    assert staged.stage.at == 0
    assert profile(staged).plots.kernels == ("flash2",)


@pytest.mark.matrix
def test_the_first_click_on_a_black_screen_shows_it_again(staged: MainWindow) -> None:
    press(staged, Key.Key_B)
    click(staged, staged.stage.curtain)
    assert (staged.stage.black, staged.stage.at) == (False, 0)


class Presses(QObject):
    """Counts the presses of a mouse that reach a widget."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__(watched)
        self.count = 0
        watched.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.MouseButtonPress
        return False


@pytest.mark.matrix
def test_without_stops_a_click_is_left_to_what_is_clicked(
    window: MainWindow, rig: Rig, save: Save, qtbot: QtBot
) -> None:
    rig.open(save(sweep(), "shown"))
    window.show_page("profile")
    window.stage.enter()
    window.appearance.finish()
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    presses = Presses(window.stage.frame.sentence)
    click(window, window.stage.frame.sentence)
    assert presses.count == 1


@pytest.mark.matrix
def test_after_the_stage_a_click_is_left_to_what_is_clicked(staged: MainWindow, qtbot: QtBot) -> None:
    press(staged, Key.Key_Escape)
    qtbot.waitUntil(lambda: not staged.stage.loading.on)
    presses = Presses(staged.top_bar)
    click(staged, staged.top_bar, RIGHT)
    assert presses.count == 1
