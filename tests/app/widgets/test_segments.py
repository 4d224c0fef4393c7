"""One choice of a few, side by side."""

import pytest
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionButton
from pytestqt.qtbot import QtBot

from flashscope.app.control.appearance import Appearance
from flashscope.app.look.theme import DARK
from flashscope.app.widgets.segments import Segments

CHOICES = [("code", "Code", ""), ("shares", "Where the stalls went", "")]


@pytest.mark.parametrize("percent", [80, 100, 150, 200])
def test_the_pressed_one_has_room_for_its_words_which_are_bolder_then(qtbot: QtBot, percent: int) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    appearance, segments = Appearance(app), Segments("What to show", CHOICES)
    qtbot.addWidget(segments)
    appearance.dress(segments)
    appearance.zoom(percent)
    appearance.use(DARK)
    segments.show()
    before = segments.sizeHint()
    for button in segments.buttons.values():
        button.setChecked(True)
        bold = QFont(button.font())
        bold.setWeight(QFont.Weight.DemiBold)
        option = QStyleOptionButton()
        button.initStyleOption(option)
        room = button.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, button)
        assert QFontMetrics(bold).horizontalAdvance(button.text()) <= room.width()
        assert segments.sizeHint() == before, "nothing moves as another one is pressed"
    appearance.zoom(100)
    appearance.finish()
