"""Number fields: a word that stands for the least number is that number, however it came there."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.widgets.number_fields import DecimalField, WholeField, whole_field

ALL = "all"


@pytest.fixture(params=[WholeField, DecimalField])
def field(request: pytest.FixtureRequest, qtbot: QtBot) -> WholeField | DecimalField:
    if request.param is WholeField:
        made: WholeField | DecimalField = whole_field("Layers", 0, 64, 0)
    else:
        made = DecimalField()
        made.setRange(0, 64)
    made.setSpecialValueText(ALL)
    qtbot.addWidget(made)
    made.show()
    made.setFocus()
    made.selectAll()
    return made


def test_undoing_what_was_typed_over_the_word_is_the_least_number_again(
    field: WholeField | DecimalField,
) -> None:
    QTest.keyClicks(field, "5")
    assert field.value() == 5
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert (field.text(), field.value()) == (ALL, 0)


def test_the_pasted_word_is_the_least_number(field: WholeField | DecimalField) -> None:
    field.setValue(5)
    field.selectAll()
    QApplication.clipboard().setText(ALL)
    field.lineEdit().paste()
    assert (field.text(), field.value()) == (ALL, 0)
