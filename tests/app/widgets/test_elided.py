"""Labels that give way to what needs the room more."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.widgets.elided import ElidedLabel


@pytest.fixture
def label(qtbot: QtBot) -> ElidedLabel:
    made = ElidedLabel("flash2 at N = 16,384 did not fit")
    qtbot.addWidget(made)
    made.show()
    made.resize(made.sizeHint())
    return made


def drawn(label: ElidedLabel) -> str:
    return QLabel.text(label)


def test_a_text_that_has_room_is_drawn_whole_and_has_no_tool_tip(label: ElidedLabel) -> None:
    assert drawn(label) == label.text()
    assert label.toolTip() == ""


def test_a_shortened_text_stands_whole_in_the_tool_tip_and_for_a_screen_reader(label: ElidedLabel) -> None:
    label.resize(80, label.height())
    assert drawn(label).endswith("…")
    assert label.toolTip() == label.accessibleName() == label.text() == "flash2 at N = 16,384 did not fit"


def test_where_a_letter_or_two_would_have_room_there_is_nothing(label: ElidedLabel) -> None:
    label.resize(label.fontMetrics().horizontalAdvance("f…") + 4, label.height())
    assert drawn(label) == ""
    assert label.toolTip() == label.text()
    label.setText("ok")
    label.resize(label.sizeHint())
    assert drawn(label) == "ok", "a short text is whole"


def test_a_shortened_text_asks_for_the_room_of_the_whole_one(qtbot: QtBot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    row, label = QHBoxLayout(owner), ElidedLabel("short")
    row.addWidget(label)
    row.addStretch(1)
    owner.resize(600, 40)
    owner.show()
    label.setText("a text that is longer than the one before it")
    row.activate()
    assert drawn(label) == label.text()


def test_a_text_of_several_lines_becomes_one(label: ElidedLabel) -> None:
    label.setText("it broke\nand this is why")
    assert label.text() == "it broke and this is why"


def test_markup_in_a_text_is_drawn_as_it_is(label: ElidedLabel) -> None:
    label.setText("<b>bold</b>")
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert label.sizeHint().width() > label.fontMetrics().horizontalAdvance("<b>bold</b>")
