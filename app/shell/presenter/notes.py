"""The speaker's window, for the screen that the audience does not see: notes, what comes next, a clock."""

from datetime import datetime
from time import monotonic

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCloseEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.stage.story import Stop
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.results.progress import elapsed_text

TICK_MS = 500
END = "The end"


class NotesWindow(QWidget):
    """This stop's notes, the next stop's title, the time of day and since the beginning.

    Signals:
        closed: It is gone.

    Args:
        parent: The window that presents.
        keys: What walks the stops, from here too.
    """

    closed = Signal()

    def __init__(self, parent: QWidget, keys: list[QAction]) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("Notes – Flashscope")
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._began = monotonic()
        self.title, self.clock, self.next = PlainLabel(wordWrap=True), PlainLabel(), PlainLabel(wordWrap=True)
        self.title.setProperty("role", "heading")
        self.clock.setProperty("role", "readout")
        self.next.setProperty("role", "dim")
        self.notes = QPlainTextEdit(readOnly=True)
        self.notes.setAccessibleName("Notes")
        self.notes.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.clock)
        column = QVBoxLayout(self)
        column.addLayout(head)
        column.addWidget(self.notes, 1)
        column.addWidget(self.next)
        self.addActions(keys)
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()
        self._tick()

    def show_stop(self, stop: Stop, after: Stop | None, number: int) -> None:
        """Show a stop's notes and what comes after it."""
        self.title.setText(f"{number}. {stop.title or stop.page.capitalize()}")
        self.notes.setPlainText(stop.notes.strip())
        self.next.setText(f"Next: {after.title or after.page.capitalize()}" if after else END)

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell that the window closes."""
        super().closeEvent(event)
        self.closed.emit()
        self.deleteLater()

    def _tick(self) -> None:
        self.clock.setText(f"{datetime.now().astimezone():%H:%M} · {elapsed_text(monotonic() - self._began)}")
