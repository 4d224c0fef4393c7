"""The keyboard alone: Tab leads to every control of every view, and each has a name."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import alike_recordings, counted_recording
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.style import Plot
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.paint_turns import PaintTurns
from tests.app.mouse import wheel
from tests.app.rig import Rig
from tests.app.shell.test_keyboard import INTERACTIVE, by_tab, made_by_qt, shows_focus, tabbed
from tests.app.stepper.builders import random_trace


@pytest.fixture
def full(window: MainWindow, rig: Rig, qtbot: QtBot) -> MainWindow:
    """A window that has something in every view."""
    recording = counted_recording()
    assert recording is not None
    rig.open(recording)
    window.pages.complete()
    compare, stepper = window.pages["compare"], window.pages["stepper"]
    assert isinstance(compare, ComparePage)
    assert isinstance(stepper, StepperPage)
    with qtbot.waitSignal(compare.lineup.found):
        compare.choose(alike_recordings()[:3])
    stepper.show_trace(random_trace())
    window.resize(1600, 1000)
    window.activateWindow()
    return window


def settle(window: MainWindow) -> None:
    for turns in window.page.findChildren(PaintTurns):
        turns.finish()
    QApplication.processEvents()


def round_trip(window: MainWindow, key: Qt.Key) -> list[QWidget]:
    """What has the focus from one press to the next, from the tabs on until something has it again."""
    window.tabs.setFocus()
    chain: list[QWidget] = []
    while (focused := window.focusWidget()) is not None and focused not in chain:
        chain.append(focused)
        QTest.keyClick(focused, key)
    return chain if focused is window.tabs else [*chain, *filter(None, [focused])]


@pytest.mark.matrix
def test_tab_goes_once_around_the_window_from_every_view_of_a_session(full: MainWindow) -> None:
    for key in ("profile", "telemetry", "results", "notes", "roofline"):
        full.show_page(key)
        settle(full)
        forth, back = (round_trip(full, key) for key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab))
        assert set(forth) == {one for one in full.findChildren(QWidget) if by_tab(one) and not one.isWindow()}
        assert back == [forth[0], *reversed(forth[1:])], f"{key}: the way back is another"
        assert full.top_bar.present in forth
        assert not [one.accessibleName() for one in forth if not shows_focus(one)], key


def test_tab_leads_from_the_top_of_the_first_page_to_its_bottom(window: MainWindow) -> None:
    window.activateWindow()
    window.rail.button("learn").setFocus()
    heights = [one.mapTo(window, one.rect().topLeft()).y() for one in tabbed(window.page)]
    assert len(heights) > 10
    assert heights == sorted(heights)


@pytest.mark.matrix
def test_tab_reaches_every_control_of_every_view(full: MainWindow) -> None:
    left = []
    for key in VIEWS:
        full.show_page(key)
        settle(full)
        for plot in full.page.findChildren(Plot):
            if plot.isVisible():
                wheel(plot, 2)  # what was moved has a button more
        settle(full)
        full.tabs.setFocus()
        reached = set(tabbed(full.page))
        missed = (one for one in full.page.findChildren(QWidget) if by_tab(one) and one not in reached)
        left += [f"{key}: {one.accessibleName() or one!r}" for one in missed if isinstance(one, INTERACTIVE)]
    assert not left, "\n".join(left)


@pytest.mark.matrix
def test_every_control_of_every_view_has_a_name(full: MainWindow) -> None:
    nameless = []
    for key in VIEWS:
        full.show_page(key)
        settle(full)
        for one in full.page.findChildren(QWidget):
            if not isinstance(one, (*INTERACTIVE, QTabBar)) or made_by_qt(one) or one.accessibleName():
                continue
            if not (isinstance(one, QAbstractButton) and one.text()):
                nameless.append(f"{key}: {one!r}")
    assert not nameless, "\n".join(nameless)
