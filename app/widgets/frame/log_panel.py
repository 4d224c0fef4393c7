"""What the engine and its children said, newest last."""

from collections import deque

from PySide6.QtGui import QColor, QTextCharFormat
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from flashscope.app.look.fonts import mono_font
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.plain import MOST_DETAILS, cut_short
from flashscope.profiles.wire.events import LogLine

KEPT_LINES = 5000


class LogPanel(QFrame):
    """A bounded list of log lines with copy and clear."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("logPanel")
        self._theme = theme
        self._lines: deque[LogLine] = deque(maxlen=KEPT_LINES)
        self._text = QPlainTextEdit(readOnly=True)
        self._text.setAccessibleName("Log")
        self._text.setPlaceholderText(
            "Nothing was logged yet. What the kernels' processes print appears here."
        )
        self._text.setMaximumBlockCount(KEPT_LINES)
        keep(self._text, lambda: self._text.setFont(mono_font()))
        caption = PlainLabel("Log")
        caption.setProperty("role", "caption")
        header = QHBoxLayout()
        header.addWidget(caption)
        header.addStretch(1)
        header.addWidget(text_button("Copy", "Copy the log", self._copy, "quiet"))
        header.addWidget(text_button("Clear", "Clear the log", self.clear, "quiet"))
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 4, 12, 8)
        column.setSpacing(4)
        column.addLayout(header)
        column.addWidget(self._text)

    @property
    def text(self) -> str:
        """Everything in the panel."""
        return self._text.toPlainText()

    def apply_theme(self, theme: Theme) -> None:
        """Write the lines again in a theme's colours."""
        self._theme = theme
        self._text.clear()
        for line in self._lines:
            self._write(line)

    def append(self, line: LogLine) -> None:
        """Add one line."""
        self._lines.append(line)
        self._write(line)

    def clear(self) -> None:
        """Forget all lines."""
        self._lines.clear()
        self._text.clear()

    def _write(self, line: LogLine) -> None:
        colours = {"error": self._theme.error, "warning": self._theme.warn, "debug": self._theme.dim}
        form = QTextCharFormat()
        form.setForeground(QColor(colours.get(line.level, self._theme.text)))
        self._text.setCurrentCharFormat(form)
        self._text.appendPlainText(cut_short(f"{line.source}: {line.text}", MOST_DETAILS))

    def _copy(self) -> None:
        copy_text(self.text)
