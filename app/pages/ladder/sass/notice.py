"""What stands in place of the machine code while there is none: what is being made, or why there is none."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from flashscope.app.look.zoom import keep
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel, set_tip

WORDS_PX, BAR_PX = 420, 160
CANCEL, AGAIN = "cancel", "again"  # keys of the page's actions


class SassNotice(QWidget):
    """A sentence, and what can be done.

    Args:
        cancel: Gives up what is being made.
        again: Makes it once more.
    """

    def __init__(self, cancel: Callable[[], None], again: Callable[[], None]) -> None:
        super().__init__()
        self.words = PlainLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setAccessibleName("Why there is no machine code")
        keep(self.words, self.words.setMaximumWidth, WORDS_PX)
        self.bar = QProgressBar(textVisible=False, minimum=0, maximum=0)
        self.bar.setAccessibleName("The kernel is being compiled")
        keep(self.bar, self.bar.setFixedWidth, BAR_PX)
        self.cancel = does(text_button("Cancel", "Stop compiling", cancel), f"ladder.{CANCEL}")
        self.again = does(text_button("Try again", "Compile once more", again), f"ladder.{AGAIN}")
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addStretch(1)
        for part in (self.words, self.bar, self.cancel, self.again):
            line = QHBoxLayout()
            line.addStretch(1)
            line.addWidget(part, 8 if part is self.words else 0)
            line.addStretch(1)
            column.addLayout(line)
        column.addStretch(2)

    def show_making(self, words: str) -> None:
        """Say what is being made."""
        self._show(words, "", making=True, again=False)

    def show_reason(self, words: str, details: str = "", *, again: bool) -> None:
        """Say why there is none; details are in the tip."""
        self._show(words, details, making=False, again=again)

    def _show(self, words: str, details: str, *, making: bool, again: bool) -> None:
        self.words.setText(words)
        set_tip(self.words, details)
        self.bar.setVisible(making)
        self.cancel.setVisible(making)
        self.again.setVisible(again)
