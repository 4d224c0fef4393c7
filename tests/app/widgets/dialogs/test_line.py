"""The dialog for a line: its keys, and no icon of a desktop on its buttons."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QWidget
from pytestqt.qtbot import QtBot

from flashscope import app
from flashscope.app.widgets.dialogs.line import LineDialog

BUTTONS = QDialogButtonBox.StandardButton


@pytest.fixture
def dialog(qtbot: QtBot) -> Iterator[LineDialog]:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = LineDialog(parent, "Rename", "Name of the session", "as it was")
    qtbot.addWidget(made)
    made.show()
    qtbot.waitActive(made)
    yield made
    made.reject()


def test_what_is_typed_replaces_the_line_and_return_keeps_it(dialog: LineDialog, qtbot: QtBot) -> None:
    assert dialog.focusWidget() is dialog.editor
    QTest.keyClicks(dialog.editor, "another")
    with qtbot.waitSignal(dialog.accepted):
        QTest.keyClick(dialog.editor, Qt.Key.Key_Return)
    assert dialog.editor.text() == "another"


def test_escape_keeps_nothing(dialog: LineDialog, qtbot: QtBot) -> None:
    QTest.keyClicks(dialog.editor, "another")
    with qtbot.waitSignal(dialog.rejected):
        QTest.keyClick(dialog.editor, Qt.Key.Key_Escape)


def test_a_line_that_is_too_long_stays_as_it_is_and_is_taken_once_it_is_shorter(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = LineDialog(parent, "Rename", "Name of the session", "", most=200)
    dialog.show()
    dialog.editor.setText("n" * 201)
    QTest.keyClick(dialog.editor, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.editor.text() == "n" * 201
    assert dialog.wrong.isVisible()
    assert dialog.wrong.text() == "201 characters: 200 are allowed."
    QTest.keyClick(dialog.editor, Qt.Key.Key_Backspace)
    assert not dialog.wrong.isVisible()
    with qtbot.waitSignal(dialog.accepted):
        QTest.keyClick(dialog.editor, Qt.Key.Key_Return)


def test_no_button_has_an_icon_and_tab_leads_to_each(dialog: LineDialog) -> None:
    buttons = dialog.buttons.buttons()
    assert all(button.icon().isNull() for button in buttons)
    reached = set()
    for _ in range(len(buttons)):
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        reached.add(dialog.focusWidget())
    assert reached == set(buttons)


@pytest.mark.matrix
def test_no_other_dialog_of_qt_asks_for_a_text() -> None:
    used = {
        node.id
        for path in Path(str(app.__file__)).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name)
    }
    assert "QInputDialog" not in used
