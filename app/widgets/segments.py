"""One choice of a few, side by side: Tab leads to the chosen one, the arrows choose."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.plain import set_tip


class SegmentButton(QPushButton):
    """One of them: as wide as its words are while it is pressed, which the stylesheet then writes bolder."""

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """Room for the bolder words, so that they are whole and the others stay where they are."""
        pressed = QFont(self.font())
        pressed.setWeight(QFont.Weight.DemiBold)
        bold, usual = (QFontMetrics(font).horizontalAdvance(self.text()) for font in (pressed, self.font()))
        return super().sizeHint() + QSize(max(0, bold - usual), 0)


class Segments(QWidget):
    """Buttons of which one is pressed.

    Args:
        name: What a screen reader says before the words of a button: `Mode`.
        choices: Key, words and tip of each.

    Attributes:
        buttons: By the keys.

    Signals:
        chosen: The user chose another one (its key).
    """

    chosen = Signal(str)

    def __init__(self, name: str, choices: Sequence[tuple[str, str, str]]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)  # exclusive: the arrows go from one to the next
        self.buttons: dict[str, QPushButton] = {}
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(0)
        for place, (key, title, tip) in enumerate(choices):
            button = text_button(title, f"{name}: {title}", lambda: None, "segment", SegmentButton)
            button.setProperty("place", _place(place, len(choices)))
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.toggled.connect(lambda on, key=key: self.chosen.emit(key) if on else None)
            set_tip(button, tip)
            self._group.addButton(button)
            self.buttons[key] = button
            line.addWidget(button)

    @property
    def current(self) -> str:
        """The key of the chosen one; empty before there is any."""
        return next((key for key, button in self.buttons.items() if button.isChecked()), "")

    def choose_quietly(self, key: str) -> None:
        """Press one and tell nobody."""
        before = self.blockSignals(True)
        self.buttons[key].setChecked(True)
        self.blockSignals(before)


def _place(place: int, count: int) -> str:
    """Where the stylesheet rounds its corners."""
    if count == 1:
        return "alone"
    return {0: "first", count - 1: "last"}.get(place, "between")
