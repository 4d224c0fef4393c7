"""Asks for a line of text, such as a name."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QVBoxLayout, QWidget

from flashscope.app.look.zoom import px
from flashscope.app.widgets.buttons import DialogButtons
from flashscope.app.widgets.plain import PlainLabel

WIDTH_PX = 420
NO_LIMIT = 1 << 30  # characters


class LineDialog(QDialog):
    """A line to edit, chosen whole at first. Return keeps it, Esc leaves it as it was.

    Args:
        parent: The window that it belongs to.
        title: Of its own window.
        label: What is asked for, in words.
        text: The line as it is.
        most: Characters that it may have; a longer one is not taken, and stays as it is. 0: any number.
    """

    def __init__(self, parent: QWidget, title: str, label: str, text: str, most: int = 0) -> None:
        super().__init__(parent)
        self._most = most
        self.setWindowTitle(title)
        self.editor = QLineEdit()
        self.editor.setMaxLength(NO_LIMIT)  # Qt would cut what is pasted, without a word
        self.editor.setText(text)
        self.editor.setAccessibleName(label)
        self.editor.selectAll()
        kinds = QDialogButtonBox.StandardButton
        self.buttons = DialogButtons(kinds.Ok | kinds.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.wrong = PlainLabel(wordWrap=True)
        self.wrong.setProperty("role", "error")
        self.editor.textChanged.connect(lambda _text: self._check())
        column = QVBoxLayout(self)
        column.addWidget(PlainLabel(label, wordWrap=True))
        column.addWidget(self.editor)
        column.addWidget(self.wrong)
        column.addWidget(self.buttons)
        self._check()
        self.resize(px(WIDTH_PX), self.sizeHint().height())

    def _check(self) -> None:
        """Say how much is too much, and take no more than that."""
        count = len(self.editor.text())
        fits = not self._most or count <= self._most
        self.wrong.setText("" if fits else f"{count} characters: {self._most} are allowed.")
        self.wrong.setVisible(not fits)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(fits)

    @staticmethod
    def ask(parent: QWidget, title: str, label: str, text: str = "", most: int = 0) -> tuple[str, bool]:
        """The line as it was left, and whether it is to be kept."""
        dialog = LineDialog(parent, title, label, text, most)
        try:
            accepted = dialog.exec() == QDialog.DialogCode.Accepted
            return dialog.editor.text(), accepted
        finally:
            dialog.deleteLater()
