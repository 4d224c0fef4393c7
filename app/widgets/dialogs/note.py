"""Asks for a note of any number of lines; what was written is never lost unasked."""

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMessageBox, QPlainTextEdit, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.widgets.buttons import DialogButtons
from flashscope.app.widgets.dialogs.question import confirmed
from flashscope.app.widgets.plain import PlainLabel

TITLE = "Note"
HELP = "Ctrl+Return keeps it."
DISCARD_QUESTION = "The note has changed: discard what was written?"


class NoteDialog(QDialog):
    """A text to edit. Tab leads to the buttons, Ctrl+Return accepts; to cancel a changed text is asked about.

    Args:
        parent: The window that it belongs to.
        about: What the note is on, in words.
        text: The note as it is.
    """

    def __init__(self, parent: QWidget, about: str, text: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(TITLE)
        self.editor = QPlainTextEdit(text)
        self.editor.setAccessibleName(about)
        self.editor.setTabChangesFocus(True)
        self._before = text
        kinds = QDialogButtonBox.StandardButton
        self.buttons = DialogButtons(kinds.Ok | kinds.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self).activated.connect(self.accept)
        column = QVBoxLayout(self)
        column.addWidget(PlainLabel(f"{about}. {HELP}", wordWrap=True))
        column.addWidget(self.editor)
        column.addWidget(self.buttons)

    @staticmethod
    def ask(parent: QWidget, about: str, text: str) -> tuple[str, bool]:
        """The text as it was left, and whether it is to be kept."""
        dialog = NoteDialog(parent, about, text)
        try:
            accepted = dialog.exec() == QDialog.DialogCode.Accepted
            return dialog.editor.toPlainText(), accepted
        finally:
            dialog.deleteLater()

    @guarded()
    def reject(self) -> None:
        """Leave, and ask before what was written goes."""
        if self.editor.toPlainText() == self._before or self._discards():
            super().reject()

    def _discards(self) -> bool:
        role = QMessageBox.ButtonRole.DestructiveRole
        return confirmed(self, TITLE, DISCARD_QUESTION, go_on="Discard", role=role, stay="Keep writing")
