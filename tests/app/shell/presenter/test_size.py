"""A stage fills the screen in large letters, and gives both back, at whatever moment it is left."""

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QImage, QWindowStateChangeEvent
from PySide6.QtWidgets import QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.chores import wait_for_all
from flashscope.app.look.zoom import ZOOM
from flashscope.app.shell.full_screen import FullScreen
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from tests.app.shell.presenter.test_loading import is_black
from tests.app.shell.presenter.test_stage import AWAY
from tests.matrix import chosen

TURNS = 0, 1, 2, 3, 5, 8, 40  # of the event loop between two presses of F11


def is_itself(window: MainWindow) -> bool:
    parts = (getattr(window, part) for part in AWAY[:3])
    there = all(isinstance(part, QWidget) and part.isVisible() for part in parts)
    return there and not window.isFullScreen() and window.isEnabled() and window.updatesEnabled()


@chosen("presses", [2, 4], {2})
@chosen("turns", TURNS, {0})
def test_a_stage_that_is_left_soon_leaves_nothing_of_itself(
    window: MainWindow, qtbot: QtBot, turns: int, presses: int
) -> None:
    window.show_page("planner")
    window.appearance.finish()
    assert (ZOOM.factor, is_itself(window)) == (1.0, True)
    size = window.size()
    for _ in range(presses):
        window.trigger("stage")
        for _ in range(turns):
            QCoreApplication.processEvents()
    assert not window.stage.on
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    window.appearance.finish()
    assert (ZOOM.factor, is_itself(window)) == (1.0, True)
    assert window.stage.curtain.isHidden()
    qtbot.waitUntil(lambda: window.size() == size)


@pytest.mark.matrix
def test_another_theme_that_is_chosen_while_all_becomes_large_leaves_it_large(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.appearance.zoom(200)
    window.appearance.choose("light")
    window.appearance.finish()
    assert (ZOOM.factor, window.appearance.theme.name) == (2.0, "light")


def test_what_was_there_is_black_before_the_window_grows_and_large_only_then(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[QImage] = []

    def toggle(_self: FullScreen, *_screen: object) -> None:
        seen.append(window.screen().grabWindow(window.winId()).toImage())

    monkeypatch.setattr(FullScreen, "toggle", toggle)
    monkeypatch.setattr(FullScreen, "turning", True)
    window.show_page("planner")
    window.appearance.finish()
    window.trigger("stage")
    assert [is_black(frame) for frame in seen] == [True]
    qtbot.wait(20)
    turning = [window.appearance.turning]  # the window manager has still to answer
    monkeypatch.setattr(FullScreen, "turning", False)
    window.stage.venue._full_screen.filled.emit()
    turning.append(window.appearance.turning)
    assert turning == [False, True]
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    assert ZOOM.factor > 2


@pytest.mark.matrix
def test_what_was_scrolled_before_a_stage_stands_where_it_stood(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(900, 560)
    window.show_page("planner")
    wait_for_all(window.page)
    grab_whole(window)
    bars = [bar for bar in window.findChildren(QScrollBar) if bar.isVisible() and bar.maximum() > 0]
    for bar in bars:
        bar.setValue(bar.maximum() // 2 + 1)
    before = [bar.value() for bar in bars]
    assert any(before)
    window.trigger("stage")
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    window.trigger("stage")
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    assert [bar.value() for bar in bars] == before


class Slow(QWidget):
    """A window whose manager answers late: Qt believes what it said last, and asks for nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.believed = False
        self.asked: list[bool] = []

    def isFullScreen(self) -> bool:
        return self.believed

    def setWindowState(self, state: Qt.WindowState) -> None:
        wanted = bool(state & Qt.WindowState.WindowFullScreen)
        if wanted is not self.believed:
            self.asked.append(wanted)

    def answer(self, filled: bool) -> None:
        self.believed = filled
        QCoreApplication.sendEvent(self, QWindowStateChangeEvent(Qt.WindowState.WindowNoState))
        QCoreApplication.processEvents()


def test_a_late_answer_to_what_was_asked_before_does_not_have_its_way(qtbot: QtBot) -> None:
    window = Slow()
    qtbot.addWidget(window)
    full_screen = FullScreen(window)
    full_screen.toggle()
    full_screen.toggle()
    assert (window.asked, full_screen.on) == ([True], False), "Qt has not asked to leave what it never saw"
    window.answer(filled=True)
    assert (window.asked, full_screen.on) == ([True, False], False)
    window.answer(filled=False)
    assert window.asked == [True, False]
    full_screen.toggle()
    assert (window.asked, full_screen.on) == ([True, False, True], True)


def test_a_window_manager_that_will_not_have_it_is_not_asked_for_ever(qtbot: QtBot) -> None:
    window = Slow()
    qtbot.addWidget(window)
    FullScreen(window).toggle()
    for _ in range(9):
        window.answer(filled=False)
    assert 1 < len(window.asked) < 5
