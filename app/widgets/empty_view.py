"""What a view says before it has something to show."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import keep
from flashscope.app.widgets.plain import PlainLabel

SHARE = 100  # of the width is a part's, as far as it wants it
WORDS_PX = 640  # that a line of words takes at most


class EmptyView(QWidget):
    """A heading, words, and the ways on under each other, above the middle.

    Attributes:
        words: How there will be something.

    Args:
        heading: What the view would answer.
        words: How there will be something.
    """

    def __init__(self, heading: str, words: str = "") -> None:
        super().__init__()
        title = PlainLabel(heading, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        title.setProperty("role", "heading")
        self.words = PlainLabel(words, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.words.setProperty("role", "dim")
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        keep(self.words, self.words.setMaximumWidth, WORDS_PX)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(48, 24, 48, 24)
        self._column.setSpacing(12)
        self._column.addStretch(2)
        self._column.addWidget(title)
        self._column.addStretch(3)
        self.add(self.words)

    def add(self, *parts: QWidget) -> None:
        """Put these under what is there: buttons as wide as they are, all else as wide as it wants to be."""
        for part in parts:
            line = QHBoxLayout()
            line.addStretch(1)
            line.addWidget(part, 0 if isinstance(part, QPushButton) else SHARE)
            line.addStretch(1)
            self._column.insertLayout(self._column.count() - 1, line)

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: its words would make the whole page as high as it would like to be."""
        return False
