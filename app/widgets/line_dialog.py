"""Asks for a line of text, such as a name."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QVBoxLayout, QWidget

from flashscope.app.look.zoom import px
from flashscope.app.widgets.buttons import DialogButtons
from flashscope.app.widgets.plain import PlainLabel

WIDTH_PX = 420


class LineDialog(QDialog):
    """A line to edit, chosen whole at first. Return keeps it, Esc leaves it as it was.

    Args:
        parent: The window that it belongs to.
        title: Of its own window.
        label: What is asked for, in words.
        text: The line as it is.
    """

    def __init__(self, parent: QWidget, title: str, label: str, text: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.editor = QLineEdit(text)
        self.editor.setAccessibleName(label)
        self.editor.selectAll()
        kinds = QDialogButtonBox.StandardButton
        self.buttons = DialogButtons(kinds.Ok | kinds.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(PlainLabel(label, wordWrap=True))
        column.addWidget(self.editor)
        column.addWidget(self.buttons)
        self.resize(px(WIDTH_PX), self.sizeHint().height())

    @staticmethod
    def ask(parent: QWidget, title: str, label: str, text: str = "") -> tuple[str, bool]:
        """The line as it was left, and whether it is to be kept."""
        dialog = LineDialog(parent, title, label, text)
        try:
            accepted = dialog.exec() == QDialog.DialogCode.Accepted
            return dialog.editor.text(), accepted
        finally:
            dialog.deleteLater()
