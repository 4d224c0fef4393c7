"""The small field for scores of one's own."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import keep
from flashscope.app.stepper.own_scores import EXAMPLE, OwnScores, ScoresError, read_scores
from flashscope.app.widgets.plain import PlainLabel

TITLE = "Own scores"
HELP = (
    "Rows in lines (Shift+Return) or after semicolons, a bar between tiles; without bars a tile has two. "
    "V is 1, 2, 3, …  Return traces them."
)
SIZE = 360, 74  # pixels of what is typed in
ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}


class ScoreEdit(QPlainTextEdit):
    """What is typed.

    Signals:
        entered: Return was pressed; with Shift it begins a line.
    """

    entered = Signal()

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take Return as the end."""
        if event.key() in ENTER and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)


class ScoreField(QWidget):
    """A popup in which scores are typed; what is wrong is said under them as they are.

    Attributes:
        edit: What is typed.
        wrong: What is wrong with it.
        go: Traces it.

    Signals:
        asked: Trace what is typed, which is right (str).
    """

    asked = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("page")
        self.setAccessibleName(TITLE)
        self.edit = ScoreEdit(EXAMPLE)
        self.edit.setAccessibleName("Scores")
        self.edit.setAccessibleDescription(HELP)
        self.edit.setTabChangesFocus(True)
        self.wrong = PlainLabel(wordWrap=True)
        self.wrong.setProperty("role", "error")
        self.go = QPushButton("Trace it")
        self.go.setProperty("role", "primary")
        self._good = read_scores(EXAMPLE)
        self._lay_out()
        self.edit.textChanged.connect(self._check)
        for asked in (self.edit.entered, self.go.clicked):
            asked.connect(lambda *_: self._ask())

    @property
    def scores(self) -> OwnScores:
        """What was traced last, or taken up; the slides' example before."""
        return self._good

    def take_up(self, text: str) -> None:
        """Go on with what was typed another time; what is no scores is left out."""
        try:
            self._good = read_scores(text)
        except ScoresError:
            return
        self.edit.setPlainText(text)

    def open_at(self, beside: QWidget) -> None:
        """Show it under a widget, all that is typed in it selected."""
        self._check()
        self.show()  # first: only then its parts have the sizes of the style sheet
        self.adjustSize()
        under, window = beside.mapToGlobal(beside.rect().bottomLeft()), beside.window()
        room = QRect(window.mapToGlobal(window.rect().topLeft()), window.size())
        most = room.bottomRight() - self.rect().bottomRight()
        self.move(max(room.left(), min(under.x(), most.x())), max(room.top(), min(under.y(), most.y())))
        self.edit.selectAll()
        self.edit.setFocus()

    def _ask(self) -> None:
        """Have it traced, or show where it is wrong."""
        text = self.edit.toPlainText()
        try:
            self._good = read_scores(text)
        except ScoresError as error:
            self._show_place(*error.at)
            return
        self.hide()
        self.asked.emit(text)

    def _check(self) -> None:
        try:
            read_scores(self.edit.toPlainText())
        except ScoresError as error:
            self.wrong.setText(str(error))
        else:
            self.wrong.setText("")

    def _show_place(self, start: int, length: int) -> None:
        cursor = self.edit.textCursor()
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        self.edit.setTextCursor(cursor)
        self.edit.setFocus()

    def _lay_out(self) -> None:
        title, words = PlainLabel("Own scores, one head"), PlainLabel(HELP, wordWrap=True)
        title.setProperty("role", "title")
        words.setProperty("role", "dim")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        for part in (title, words, self.edit, self.wrong, self.go):
            column.addWidget(part)
        keep(self.edit, self.edit.setFixedSize, *SIZE)
        keep(self.wrong, self.wrong.setMinimumHeight, 34)  # of two lines, so that nothing moves as one types
