"""The window without a mouse: every part is named and reached, and keys mean what the focus says."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.full_screen import FullScreen
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.paint_turns import PaintTurns
from flashscope.profiles.wire.events import PlanFinished
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, start_page
from tests.matrix import chosen

INTERACTIVE = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
)


def test_every_interactive_widget_has_an_accessible_name(window: MainWindow) -> None:
    ours = [w for w in window.findChildren(QWidget) if isinstance(w, INTERACTIVE) and not made_by_qt(w)]
    nameless = [
        w for w in ours if not w.accessibleName() and not (isinstance(w, QAbstractButton) and w.text())
    ]
    assert len(ours) > 20
    assert [f"{type(w).__name__} in {type(w.parent()).__name__}" for w in nameless] == []


def made_by_qt(widget: QWidget) -> bool:
    """Parts that Qt builds into its own compound widgets: they speak with their owner's name."""
    if isinstance(widget, QScrollBar | QHeaderView):
        return True
    parent = widget.parent()
    owners = (QComboBox, QAbstractSpinBox, QAbstractItemView, QTabBar, QLineEdit)
    return isinstance(parent, owners) or (parent is not None and isinstance(parent.parent(), QComboBox))


def test_keys_are_silent_while_something_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("sessions")
    search = window.pages["sessions"].findChild(QLineEdit)
    assert search is not None
    window.activateWindow()
    search.setFocus()
    qtbot.waitUntil(search.hasFocus)
    QTest.keyClicks(search, "rn?/")
    assert search.text() == "rn?/"


def test_space_presses_the_focused_button_and_is_no_shortcut_there(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("stepper")
    window.activateWindow()
    button = window.rail.button("sessions")
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert window.page.key == "sessions"


@chosen("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter], {Qt.Key.Key_Return})
def test_return_presses_the_focused_button_where_no_action_has_the_key(
    window: MainWindow, qtbot: QtBot, key: Qt.Key
) -> None:
    window.show_page("start")
    step = next(one for one in window.page.findChildren(QAbstractButton) if one.text() == "Step")
    step.setFocus()
    qtbot.waitUntil(step.hasFocus)
    QTest.keyClick(step, key)
    assert window.view == "stepper"


@pytest.mark.matrix
def test_return_on_a_button_beside_a_bar_of_a_timeline_is_the_timelines(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.show_page("timeline")
    action = window.registry.find("timeline.step")
    assert action is not None
    button = window.rail.findChildren(QAbstractButton)[0]
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    QTest.keyClick(button, Qt.Key.Key_Return)
    assert (window.view == "timeline") is action.isEnabled()


@pytest.mark.matrix
def test_arrows_go_from_tab_to_tab_also_where_they_step_or_move(window: MainWindow, qtbot: QtBot) -> None:
    for view, key, following in (
        ("stepper", Qt.Key.Key_Right, "timeline"),
        ("timeline", Qt.Key.Key_Right, "ladder"),
        ("timeline", Qt.Key.Key_Left, "stepper"),
    ):
        window.show_page(view)
        window.tabs.setFocus()
        qtbot.waitUntil(window.tabs.hasFocus)
        QTest.keyClick(window.tabs, key)
        assert window.view == following


def test_tab_reaches_every_button_of_the_start_page(window: MainWindow, qtbot: QtBot) -> None:
    window.activateWindow()
    start = start_page(window)
    qtbot.waitUntil(start.quick.hasFocus)
    reached = set()
    for _ in range(60):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        reached.add(window.focusWidget())
    buttons = [b for b in start.findChildren(QAbstractButton) if b.isEnabled()]
    assert set(buttons) <= reached
    assert set(window.rail._buttons.values()) <= reached
    assert window.top_bar.present in reached


def press_escape(window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_Escape)


@pytest.mark.matrix
@chosen("key", ["start", "profile", "stepper", "sessions", "planner"], {"start", "profile", "stepper"})
def test_whatever_the_tab_key_reaches_shows_that_it_has_the_focus(window: MainWindow, key: str) -> None:
    window.resize(1280, 800)
    window.activateWindow()
    window.show_page(key)
    page = window.pages[key]
    for turns in page.findChildren(PaintTurns):
        turns.finish()
    QApplication.processEvents()
    reached = [w for w in page.findChildren(QWidget) if by_tab(w)]
    assert reached
    silent = [w for w in reached if not shows_focus(w)]
    assert not silent, [(type(w).__name__, w.accessibleName()) for w in silent]


def by_tab(widget: QWidget) -> bool:
    policy = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    return bool(policy) and widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None


def shows_focus(widget: QWidget) -> bool:
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    QApplication.processEvents()
    with_it = widget.grab().toImage()
    widget.clearFocus()
    QApplication.processEvents()
    return widget.grab().toImage() != with_it


def test_one_esc_ends_no_sweep_and_a_second_one_does(window: MainWindow, rig: Rig) -> None:
    window.activateWindow()
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    press_escape(window)
    assert not rig.engine.cancelled
    assert window.errors.text == "Press Esc once more to cancel."
    press_escape(window)
    assert not window.errors.isVisible()
    assert rig.engine.cancelled


@pytest.mark.matrix
def test_what_another_esc_does_is_said_for_as_long_as_it_does_it(window: MainWindow, rig: Rig) -> None:
    window.activateWindow()
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    press_escape(window)
    window._sweep._asked.timeout.emit()
    assert not window.errors.isVisible()
    press_escape(window)
    rig.say([PlanFinished(t_ns=9, outcome="finished")])
    assert not window.errors.isVisible()
    window.errors.show_notice("something else")
    window._sweep._asked.timeout.emit()
    assert window.errors.text == "something else"
    assert window.errors.isVisible()


@pytest.mark.matrix
def test_esc_that_comes_long_after_another_asks_again(window: MainWindow, rig: Rig) -> None:
    window.activateWindow()
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    press_escape(window)
    window._sweep._asked.timeout.emit()
    window._sweep._asked.stop()
    press_escape(window)
    assert not rig.engine.cancelled


class Unmanaged(QWidget):
    """A window that nobody makes larger or smaller, and that soon fills no screen as far as Qt knows."""

    def setWindowState(self, state: Qt.WindowState) -> None:
        """As on an X server without a window manager."""


@pytest.mark.matrix
def test_a_window_without_a_window_manager_fills_the_screen_and_goes_back(qtbot: QtBot) -> None:
    window = Unmanaged()
    qtbot.addWidget(window)
    window.setGeometry(40, 30, 300, 200)
    window.show()
    before, full_screen, states = window.geometry(), FullScreen(window), []
    for _ in range(2):
        full_screen.toggle()
        qtbot.waitUntil(lambda: window.size() == window.screen().size(), timeout=5000)
        states.append(full_screen.on)
        full_screen.toggle()
        states.append(full_screen.on)
        assert window.geometry() == before
    assert states == [True, False, True, False]


def test_a_full_screen_that_is_left_is_on_its_way_until_the_window_manager_has_answered(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    full_screen = FullScreen(window)
    window.resize(window.screen().size())
    monkeypatch.setattr(window, "isFullScreen", lambda: True)
    monkeypatch.setattr(window, "setWindowState", lambda _state: None)
    full_screen.toggle()
    assert full_screen.turning
    window.resize(300, 200)
    assert not full_screen.turning


@pytest.mark.matrix
def test_esc_leaves_the_full_screen_first(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    window.activateWindow()
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    window._view._full_screen.toggle()
    qtbot.waitUntil(window.isFullScreen)
    press_escape(window)
    qtbot.waitUntil(lambda: not window.isFullScreen())
    press_escape(window)
    assert not rig.engine.cancelled


def test_esc_does_nothing_where_nothing_is_open_or_runs(window: MainWindow, rig: Rig) -> None:
    window.activateWindow()
    press_escape(window)
    press_escape(window)
    assert not rig.engine.cancelled
    assert not window.errors.isVisible()


@pytest.mark.matrix
def test_tab_reaches_the_form_before_the_plots_beside_it_and_after_those_above_it(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    window.show_page("profile")
    window.activateWindow()
    for turns in page.findChildren(PaintTurns):
        turns.finish()
    found = []
    for width in (1280, 700, 1280):
        window.resize(width, 720)
        beside = width == 1280
        qtbot.waitUntil(lambda: (page.form.y() == 0) == (window.width() == 1280), timeout=5000)
        window.tabs.setFocus()
        chain = tabbed(page)
        inside = [page.form.isAncestorOf(widget) for widget in chain]
        assert set(inside) == {True, False}
        assert inside == sorted(inside, reverse=beside)
        found.append(chain)
    assert found[0] == found[2]
    assert set(found[0]) == set(found[1])


def tabbed(page: QWidget) -> list[QWidget]:
    """What the Tab key reaches on a page, in its order."""
    window, chain = page.window(), [page]
    while (focused := window.focusWidget()) not in chain[1:]:
        chain.append(focused or window)
        QTest.keyClick(focused or window, Qt.Key.Key_Tab)
    return [widget for widget in chain[1:] if page.isAncestorOf(widget)]
