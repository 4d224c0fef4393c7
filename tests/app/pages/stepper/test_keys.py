"""The keys step wherever the mouse was used last."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox
from pytestqt.qtbot import QtBot

from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.remark import Remark
from tests.app.pages.stepper.position import at
from tests.app.remarks import remark_on
from tests.app.rig import Rig
from tests.app.stepper.builders import random_trace
from tests.matrix import chosen


@pytest.fixture(autouse=True)
def no_click_is_half_a_double_click(qapp: QApplication) -> Iterator[None]:
    """Qt takes a click right after the one that opened a list for a part of it."""
    before = qapp.doubleClickInterval()
    qapp.setDoubleClickInterval(0)
    yield
    qapp.setDoubleClickInterval(before)


@pytest.fixture
def page(rig: Rig, qtbot: QtBot) -> StepperPage:
    window = rig.window()
    window.resize(1280, 720)
    window.activateWindow()
    window.show_page("stepper")
    found = window.pages["stepper"]
    assert isinstance(found, StepperPage)
    found.show_trace(random_trace())
    qtbot.waitUntil(found.transport.scrubber.hasFocus)
    return found


def press(page: StepperPage, key: Qt.Key) -> None:
    QTest.keyClick(page.window().focusWidget(), key)


def pick(combo: QComboBox, row: int, qtbot: QtBot) -> None:
    """Open the list and pick an entry, with the mouse."""
    QTest.mouseClick(combo, Qt.MouseButton.LeftButton)
    view = combo.view()
    qtbot.waitUntil(view.isVisible)
    QApplication.processEvents()  # it takes no click in the turn that opens it
    place = view.visualRect(combo.model().index(row, 0)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: not view.isVisible())


@chosen("name", ["preset", "order"], {"preset"})
def test_the_keys_step_after_a_pick_in_a_drop_down(page: StepperPage, qtbot: QtBot, name: str) -> None:
    combo = getattr(page.bar, name)
    pick(combo, combo.count() - 1 - combo.currentIndex(), qtbot)
    before = at(page)
    press(page, Qt.Key.Key_Right)
    assert at(page) == before + 1
    press(page, Qt.Key.Key_Space)
    assert page.player.playing
    assert not combo.view().isVisible()


def test_the_keys_step_after_a_click_on_a_button(page: StepperPage, qtbot: QtBot) -> None:
    QTest.mouseClick(page.transport.follow, Qt.MouseButton.LeftButton)
    press(page, Qt.Key.Key_Space)
    assert page.player.playing
    assert not page.transport.follow.isChecked()


def test_page_down_is_a_step_forward_as_clickers_mean_it(page: StepperPage) -> None:
    page.seek(0)
    press(page, Qt.Key.Key_PageDown)
    press(page, Qt.Key.Key_PageDown)
    assert at(page) == 2
    press(page, Qt.Key.Key_PageUp)
    assert at(page) == 1


@pytest.mark.matrix
def test_the_keys_step_when_the_page_is_shown_again(page: StepperPage, rig: Rig) -> None:
    window = page.window()
    assert isinstance(window, MainWindow)
    window.show_page("profile")
    button: QAbstractButton = window.rail.button("inside")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    press(page, Qt.Key.Key_Space)
    assert page.player.playing


@pytest.mark.matrix
def test_the_keys_step_after_a_row_was_typed(page: StepperPage) -> None:
    page.transport.row.setFocus()
    page.transport.row.selectAll()
    QTest.keyClicks(page.transport.row, "7")
    press(page, Qt.Key.Key_Return)
    page.seek(0)
    press(page, Qt.Key.Key_Right)
    assert at(page) == 1
    assert page.transport.row.value() == 7


def type_row(page: StepperPage, typed: str) -> None:
    page.transport.row.setFocus()
    page.transport.row.selectAll()
    QTest.keyClicks(page.transport.row, typed)


@pytest.mark.matrix
def test_a_row_is_typed_whole_before_another_is_watched_also_while_the_steps_go_on(page: StepperPage) -> None:
    page.seek(page.position.last if page.position else 0)
    shown = page.transport.row.value()
    type_row(page, "1")
    page.seek(0)
    assert page.transport.row.cleanText() == "1"
    page.seek(page.position.last if page.position else 0)
    QTest.keyClicks(page.transport.row, "2")
    assert page.transport.row.cleanText() == "12"
    assert page.transport.row.value() == shown


@pytest.mark.matrix
def test_a_row_that_follows_to_another_block_says_so_beside_the_field(page: StepperPage) -> None:
    page.seek(page.position.last if page.position else 0)
    last = page.transport.row.value()
    type_row(page, "2")
    press(page, Qt.Key.Key_Return)
    watched = page.transport.row.value()
    assert watched == last + 2
    said = f"Row {watched} is watched, which is in this block where row 2 is in its own: Follow is on."
    assert remark_on(page.transport.row) == said


@pytest.mark.matrix
def test_a_row_beyond_the_trace_is_refused_in_words(page: StepperPage) -> None:
    last = page.transport.row.maximum()
    type_row(page, "99")
    assert remark_on(page.transport.row) == f"‘99’ is not a whole number from 0 to {last}."


@pytest.mark.matrix
def test_what_is_said_of_a_row_moves_with_it_when_the_page_gets_lower(
    page: StepperPage, qtbot: QtBot
) -> None:
    window = page.window()
    assert isinstance(window, MainWindow)
    type_row(page, "99")
    (said,) = [found for found in window.findChildren(Remark) if found.isVisible()]
    before = said.y()
    window.log.show()  # it takes room from the page
    row = page.transport.row
    qtbot.waitUntil(lambda: said.y() < before)
    assert not said.geometry().intersects(QRect(row.mapTo(said.ground, QPoint(0, 0)), row.size()))


def test_a_drop_down_keeps_the_focus_of_who_tabbed_there(page: StepperPage, qtbot: QtBot) -> None:
    page.bar.order.setFocus(Qt.FocusReason.TabFocusReason)
    before = page.story
    press(page, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: page.story is not before or bool(page._tracing.wanted))
    page.show_trace(random_trace())
    assert page.bar.order.hasFocus()
