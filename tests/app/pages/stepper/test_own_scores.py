"""Scores of one's own are typed in a small field, traced by Return and remembered."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.settings import Settings
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.score_field import ScoreField
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stepper.own_scores import read_scores
from tests.app.pages.stepper.conftest import Bench
from tests.matrix import chosen

SHIFT = Qt.KeyboardModifier.ShiftModifier


def typed(field: ScoreField, text: str) -> None:
    """Type in place of what stands there."""
    field.edit.selectAll()
    for number, line in enumerate(text.split("\n")):
        if number:
            QTest.keyClick(field.edit, Qt.Key.Key_Return, SHIFT)
        QTest.keyClicks(field.edit, line)


def opened(bench: Bench) -> ScoreField:
    bench.show()
    bench.press(Qt.Key.Key_S)
    field = bench.page.bar.field
    bench.qtbot.waitUntil(field.isVisible)
    return field


def test_s_opens_the_field_and_return_traces_what_is_typed(bench: Bench) -> None:
    field = opened(bench)
    typed(field, "1,2 | 5,0\n4,4 | 0,1")
    QTest.keyClick(field.edit, Qt.Key.Key_Return)
    assert bench.engine.requests[-1] == read_scores("1,2|5,0;4,4|0,1").request(
        bench.page.bar.chosen_backend, bench.page.bar.chosen_order
    )
    assert not field.isVisible()
    assert bench.page.bar.preset.currentText() == "Own scores"
    bench.qtbot.waitUntil(lambda: bench.page.view is not None and bench.page.view.recording.seqlen_q == 2)


def test_scores_that_are_typed_are_own_ones_also_where_they_are_those_of_the_slide(bench: Bench) -> None:
    field = opened(bench)
    typed(field, "1,3 | 2,0.5")
    before = bench.page.story
    field.go.click()
    bench.qtbot.waitUntil(lambda: bench.page.story is not before)
    assert bench.page.bar.preset.currentText() == "Own scores"
    before = bench.page.story
    bench.page.show_preset("slide")
    bench.qtbot.waitUntil(lambda: bench.page.story is not before)
    assert bench.page.bar.preset.currentText() == "Slide example"


def test_another_loop_order_traces_the_same_scores_again(bench: Bench) -> None:
    field = opened(bench)
    typed(field, "1,2 | 5,0 | 3")
    before = bench.page.story
    field.go.click()
    bench.qtbot.waitUntil(lambda: bench.page.story is not before)
    order = bench.page.bar.order
    order.setCurrentIndex(1 - order.currentIndex())
    first, second = bench.engine.requests[-2:]
    assert first.order != second.order
    assert first.inputs == second.inputs
    assert bench.page.bar.preset.currentText() == "Own scores"


def test_what_is_wrong_is_said_while_one_types_and_shown_where_it_is(bench: Bench) -> None:
    field = opened(bench)
    asked = len(bench.engine.requests)
    typed(field, "1,2 | 5,y")
    assert field.wrong.text() == "Row 1: “y” is no number."
    QTest.keyClick(field.edit, Qt.Key.Key_Return)
    assert field.isVisible()
    assert field.edit.textCursor().selectedText() == "y"
    assert len(bench.engine.requests) == asked, "what is no scores has been traced"
    QTest.keyClicks(field.edit, "0.5")
    assert field.wrong.text() == ""


def test_escape_leaves_the_trace_as_it_is(bench: Bench) -> None:
    field = opened(bench)
    before, chosen = bench.page.story, bench.page.bar.preset.currentText()
    typed(field, "1,2")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not field.isVisible()
    assert (bench.page.story, bench.page.bar.preset.currentText()) == (before, chosen)


@chosen("kept", ["3,1 | 2,2", "no scores at all"], {"no scores at all"})
def test_the_scores_typed_last_are_there_at_the_next_start(
    qtbot: QtBot, kept: str, request: pytest.FixtureRequest
) -> None:
    Settings().scores = kept
    window: MainWindow = request.getfixturevalue("window")
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    right = kept[0].isdigit()
    assert (page.bar.field.edit.toPlainText() == kept) is right
    typed(page.bar.field, "8,9")
    page.bar.field.go.click()
    assert Settings().scores == "8,9"


@pytest.mark.matrix
def test_the_field_is_opened_by_its_name_from_every_view(window: MainWindow, qtbot: QtBot) -> None:
    action = window.registry.find("stepper.scores")
    assert action is not None
    action.trigger()
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    assert window.view == "stepper"
    qtbot.waitUntil(page.bar.field.isVisible)
    page.bar.field.hide()


def test_the_field_stays_inside_of_the_window(bench: Bench) -> None:
    bench.show()
    window = bench.page.window()
    beside = QWidget(window)
    beside.setGeometry(window.width() - 20, window.height() - 20, 20, 20)
    field = ScoreField(window)
    field.open_at(beside)
    assert QRect(window.mapToGlobal(window.rect().topLeft()), window.size()).contains(field.geometry())
    field.hide()
