"""Fields whose letters the window undoes, with everything else, in one order."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from flashscope.app.control.guard import guarded
from flashscope.profiles.wire.text import harmless

TURNS = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo


class OneUndo(QObject):
    """Leaves the keys of undo and redo to the window's shortcuts, which the fields would keep.

    Signals:
        left: A field has lost the focus.

    Args:
        parent: Its owner.
    """

    left = Signal()

    def watch(self, *watched: QWidget) -> None:
        """From now on in these fields."""
        for one in watched:
            one.installEventFilter(self)
            one.setAcceptDrops(False)  # what is dropped is a story for the window
            if isinstance(one, QPlainTextEdit):
                one.setUndoRedoEnabled(False)
                one.setTabChangesFocus(True)

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep undo and redo from a field, and tell when the focus goes."""
        if event.type() == QEvent.Type.FocusOut:
            self.left.emit()
        if isinstance(event, QKeyEvent) and any(event.matches(keys) for keys in TURNS):
            event.ignore()  # the window's shortcut has it
            return True
        return super().eventFilter(watched, event)


def line_field(name: str, hint: str, typed: Callable[[str], None]) -> QLineEdit:
    """A field of one line; `typed` is called with every text that the user leaves in it."""
    field = QLineEdit(placeholderText=hint)
    field.setAccessibleName(name)
    field.textEdited.connect(typed)
    return field


def show_line(field: QLineEdit, text: str) -> None:
    """Show a text, what would control the screen as marks; the cursor stays if it is there already."""
    shown = harmless(text)
    if field.text() != shown:
        field.setText(shown)


def show_text(field: QPlainTextEdit, text: str) -> None:
    """Show a text in the same way, without telling that it has changed, the cursor at its end."""
    shown = harmless(text)
    if field.toPlainText() == shown:
        return
    with QSignalBlocker(field):
        field.setPlainText(shown)
        cursor = field.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        field.setTextCursor(cursor)
