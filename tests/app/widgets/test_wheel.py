"""The wheel over a field: it scrolls what the field stands in, unless the field has the focus."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from flashscope import app
from flashscope.app.look.theme import DARK
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.number_fields import DecimalField, WholeField
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.widgets.scrubber import Scrubber
from flashscope.app.widgets.term_label import TermBox

WIDE, HIGH = 1600, 1000  # pixels; higher than what is on show


def whole() -> WholeField:
    field = WholeField()
    field.setValue(64)
    return field


def decimal() -> DecimalField:
    field = DecimalField()
    field.setValue(64)
    return field


def drop_down() -> DropDown:
    box = DropDown()
    box.addItems(["a", "b", "c"])
    return box


def term_box() -> TermBox:
    box = TermBox("choice")
    box.addItems(["a", "b", "c"])
    return box


def scrubber() -> Scrubber:
    field = Scrubber(DARK, "moment", "")
    field.setValue(50)
    return field


def value(field: QWidget) -> object:
    if isinstance(field, QComboBox):
        return field.currentText()
    assert isinstance(field, WholeField | DecimalField | Scrubber)
    return field.value()


def turn_down(field: QWidget) -> None:
    """Turn the wheel one notch towards the user, over the middle of a field."""
    window = field.window()
    place = QPointF(field.mapTo(window, field.rect().center()))
    QTest.wheelEvent(window.windowHandle(), place, QPoint(0, -120))


@pytest.mark.parametrize("make", [whole, decimal, drop_down, term_box, scrubber])
def test_the_wheel_over_a_field_scrolls_until_the_field_has_the_focus(
    make: Callable[[], QWidget], qtbot: QtBot
) -> None:
    content, field = QWidget(), make()
    column = QVBoxLayout(content)
    other = QLineEdit()
    for widget in (other, field):
        column.addWidget(widget)
    column.addSpacing(HIGH)
    area = Scrolling(content)
    qtbot.addWidget(area)
    area.show()
    bar, before = area.verticalScrollBar(), value(field)
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    other.setFocus()
    qtbot.waitUntil(other.hasFocus)
    turn_down(field)
    scrolled = bar.value()
    assert scrolled > 0
    assert value(field) == before
    bar.setValue(0)
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    turn_down(field)
    assert value(field) != before
    assert bar.value() == 0


def test_the_wheel_over_the_form_of_a_sweep_changes_no_field_of_it(window: MainWindow) -> None:
    window.resize(WIDE, HIGH)
    window.show_page("profile")
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    page.new_sweep()
    inputs = [field for field in page.form.inputs.values() if field.isVisible()]
    before = [field.chosen() for field in inputs]
    form = page.form.findChild(Scrolling)
    assert form is not None
    QApplication.processEvents()  # the form has its whole height
    for field in inputs:
        form.ensureWidgetVisible(field)
        turn_down(field)
    assert [field.chosen() for field in inputs] == before


def called(node: ast.AST) -> set[str]:
    """What a call makes, or what alone a class extends."""
    names = (
        [node.func] if isinstance(node, ast.Call) else node.bases if isinstance(node, ast.ClassDef) else []
    )
    return {getattr(name, "id", "") for name in names} if len(names) == 1 else set()


@pytest.mark.matrix
def test_no_drop_down_and_no_slider_is_made_but_one_that_leaves_the_wheel_alone() -> None:
    source = Path(app.__file__).parent
    bare = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"QComboBox", "QSlider"})
        or (
            isinstance(node, ast.ClassDef)
            and {getattr(base, "id", "") for base in node.bases} == {"QComboBox"}
        )
    }
    assert bare == set()
