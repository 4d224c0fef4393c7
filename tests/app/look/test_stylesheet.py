"""The style sheet and the files it names."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QFile, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QTableWidget, QTableWidgetItem, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.look import stylesheet
from flashscope.app.look.assets import ASSETS
from flashscope.app.look.contrast import contrast
from flashscope.app.look.theme import DARK, LIGHT, THEMES, Theme
from tests.app.pixels import pixels

FRAME = 4  # pixels of a button around its words


@pytest.mark.parametrize("name", ["new\nline", "back\\slash", 'a "quoted" one', "paren)thesis;{}"])
def test_a_folder_of_any_name_keeps_the_style(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assets = tmp_path / name / "assets"
    shutil.copytree(ASSETS / "marks", assets / "marks")
    with monkeypatch.context() as patch:
        patch.setattr(stylesheet, "ASSETS", assets)
        sheet = stylesheet.stylesheet(LIGHT)
        widget = QWidget()
        qtbot.addWidget(widget)
        widget.setStyleSheet(sheet)
        widget.ensurePolished()  # Qt warns of one that it cannot read, which fails the test
        assert f'url("{stylesheet.MARKS}:down-{LIGHT.name}.svg")' in sheet
        assert Path(QFile(f"{stylesheet.MARKS}:down-{LIGHT.name}.svg").fileName()).parent == assets / "marks"
    stylesheet.stylesheet(LIGHT)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_a_button_that_cannot_be_pressed_is_told_from_one_that_can(qtbot: QtBot, theme: Theme) -> None:
    button = QPushButton("Restore")
    qtbot.addWidget(button)
    button.setStyleSheet(stylesheet.stylesheet(theme))
    able = strongest(button, theme)
    button.setEnabled(False)
    assert able > 2 * strongest(button, theme)


def strongest(button: QPushButton, theme: Theme) -> float:
    """How far what stands out most in a button stands out from what it lies on."""
    image = button.grab().toImage()
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return max(contrast(image.pixelColor(*place).name(), theme.panel) for place in places)


def test_the_focus_of_the_keyboard_frames_a_button_and_leaves_its_words_alone(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setStyleSheet(stylesheet.stylesheet(DARK))
    row = QHBoxLayout(window)
    before, button = QPushButton("Note"), QPushButton("Tags")
    row.addWidget(before)
    row.addWidget(button)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    before.setFocus()
    without = pixels(button.grab().toImage())
    QTest.keyClick(before, Qt.Key.Key_Tab)
    assert button.hasFocus()
    focused = pixels(button.grab().toImage())
    assert (focused != without).any()
    assert (focused[FRAME:-FRAME, FRAME:-FRAME] == without[FRAME:-FRAME, FRAME:-FRAME]).all()


def test_where_the_keyboard_stands_in_a_table_is_framed_and_a_chosen_row_is_as_legible_there(
    qtbot: QtBot,
) -> None:
    table = QTableWidget(2, 1)
    qtbot.addWidget(table)
    table.setStyleSheet(stylesheet.stylesheet(DARK))
    table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
    for row in range(table.rowCount()):
        table.setItem(row, 0, QTableWidgetItem("flash2"))
    with qtbot.waitExposed(table):
        table.show()
    table.activateWindow()
    qtbot.waitUntil(table.isActiveWindow)
    table.setFocus()
    table.setCurrentCell(1, 0)
    QTest.keyClick(table, Qt.Key.Key_Up)
    chosen, other = (table.visualRect(table.model().index(row, 0)) for row in range(2))
    here = [pixels(table.viewport().grab(part).toImage()) for part in (chosen, other)]
    QTest.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    assert [index.row() for index in table.selectionModel().selectedRows()] == [0]
    assert table.currentRow() == 1
    there = [pixels(table.viewport().grab(part).toImage()) for part in (chosen, other)]
    assert (here[0] == there[0]).all()
    assert QColor(DARK.accent).rgb() in there[1]
    assert QColor(DARK.accent).rgb() not in here[1]
