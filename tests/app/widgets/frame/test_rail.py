"""The rail: every page has its button whole, with its word where there is room."""

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.look.zoom import ZOOM
from flashscope.app.pages.registry import PLACES
from flashscope.app.widgets.frame.rail import Rail, RailEntry

Style = Qt.ToolButtonStyle


@pytest.mark.parametrize(
    ("height", "zoom", "style"),
    [
        (640, 1.0, Style.ToolButtonTextUnderIcon),
        (300, 1.0, Style.ToolButtonIconOnly),
        (600, 2.0, Style.ToolButtonIconOnly),
        (1300, 2.0, Style.ToolButtonTextUnderIcon),
    ],
)
def test_no_button_lies_over_another_however_low_the_window(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, height: int, zoom: float, style: Style
) -> None:
    monkeypatch.setattr(ZOOM, "factor", zoom)
    rail = Rail(RailEntry(place.key, place.title, place.icon) for place in PLACES)
    qtbot.addWidget(rail)
    rail.resize(rail.width(), height)
    rail.show()
    QApplication.processEvents()
    buttons = list(rail._buttons.values())
    assert {button.toolButtonStyle() for button in buttons} == {style}
    for upper, lower in pairwise(buttons):
        assert upper.geometry().bottom() < lower.geometry().top()
    assert buttons[-1].geometry().bottom() <= height
    assert rail.minimumSizeHint().height() <= height
