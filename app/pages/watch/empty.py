"""What the view says before anything is watched."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.watching import HOW_TO_WATCH, WHAT_IS_WATCHED

WATCH, BRING = "profile.watch", "profile.bring"


class EmptyWatch(QWidget):
    """Words and buttons.

    Signals:
        wanted: Do this action of another page (str).
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        heading = PlainLabel(WHAT_IS_WATCHED, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        heading.setProperty("role", "heading")
        words = PlainLabel(HOW_TO_WATCH, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        words.setProperty("role", "dim")
        column = QVBoxLayout(self)
        column.setContentsMargins(48, 24, 48, 24)
        column.setSpacing(12)
        column.addStretch(2)
        column.addWidget(heading)
        column.addWidget(words)
        for text, name, key, role in (
            ("Watch a kernel of yours", "Watch a kernel of yours", WATCH, "primary"),
            ("Bring a kernel …", "Bring a kernel of yours", BRING, ""),
        ):
            button = does(text_button(text, name, partial(self.wanted.emit, key), role), key)
            column.addWidget(button, alignment=Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: its words would make the whole page as high as it would like to be."""
        return False
