"""What the stylesheet draws around a table."""

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QTableWidget
from pytestqt.qtbot import QtBot

from flashscope.app.look.stylesheet import stylesheet
from flashscope.app.look.theme import THEMES, Theme


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_the_headings_of_a_table_leave_its_round_corner_its_line(qtbot: QtBot, theme: Theme) -> None:
    table = QTableWidget(1, 1)
    table.setStyleSheet(stylesheet(theme))
    table.verticalHeader().hide()
    table.horizontalHeader().setStretchLastSection(True)
    qtbot.addWidget(table)
    table.resize(200, 100)
    corner = table.grab().toImage().copy(1, 1, 5, 5)
    ground = QColor(theme.panel).lightness()
    away = (abs(corner.pixelColor(at, at).lightness() - ground) for at in range(5))
    assert max(away) > abs(QColor(theme.line).lightness() - ground) / 3
