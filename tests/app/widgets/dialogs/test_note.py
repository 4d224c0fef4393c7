"""The dialog for notes: keys lead out of the text, keep it, and lose nothing unasked."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.widgets.dialogs.note import DISCARD_QUESTION, NoteDialog

BUTTONS = QDialogButtonBox.StandardButton


@pytest.fixture
def dialog(qtbot: QtBot) -> Iterator[NoteDialog]:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = NoteDialog(parent, "Note on it", "as it was")
    qtbot.addWidget(made)
    made.show()
    qtbot.waitActive(made)
    yield made
    made.editor.setPlainText("as it was")


def asked(monkeypatch: pytest.MonkeyPatch, button: str) -> list[str]:
    """Press this button of the question, which is kept."""
    questions: list[str] = []

    def press(box: QMessageBox) -> int:
        questions.append(box.text())
        next(one for one in box.buttons() if one.text() == button).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", press)
    return questions


def test_tab_leads_from_the_text_to_the_buttons_and_return_there_keeps_the_note(
    dialog: NoteDialog, qtbot: QtBot
) -> None:
    dialog.editor.setFocus()
    QTest.keyClicks(dialog.editor, "new ")
    QTest.keyClick(dialog.editor, Qt.Key.Key_Tab)
    assert "\t" not in dialog.editor.toPlainText()
    focused = dialog.focusWidget()
    assert focused is dialog.buttons.button(BUTTONS.Ok)
    with qtbot.waitSignal(dialog.accepted):
        QTest.keyClick(focused, Qt.Key.Key_Return)
    assert dialog.editor.toPlainText() == "new as it was"


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_control_return_in_the_text_keeps_it_and_return_alone_is_a_line(
    dialog: NoteDialog, qtbot: QtBot, key: Qt.Key
) -> None:
    QTest.keyClick(dialog.editor, Qt.Key.Key_Return)
    with qtbot.waitSignal(dialog.accepted):
        QTest.keyClick(dialog.editor, key, Qt.KeyboardModifier.ControlModifier)
    assert dialog.editor.toPlainText() == "\nas it was"


@pytest.mark.parametrize(("button", "left"), [("Keep writing", False), ("Discard", True)])
def test_return_on_cancel_asks_before_a_changed_note_goes(
    dialog: NoteDialog, monkeypatch: pytest.MonkeyPatch, button: str, left: bool
) -> None:
    questions = asked(monkeypatch, button)
    QTest.keyClicks(dialog.editor, "new ")
    QTest.keyClick(dialog.buttons.button(BUTTONS.Cancel), Qt.Key.Key_Return)
    assert questions == [DISCARD_QUESTION]
    assert dialog.isVisible() is not left


def test_a_note_that_is_as_it_was_goes_without_a_question(
    dialog: NoteDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = asked(monkeypatch, "Discard")
    QTest.keyClick(dialog.editor, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert questions == []
