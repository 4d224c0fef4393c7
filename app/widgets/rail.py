"""The left rail: one button a page."""

from collections.abc import Iterable
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QToolButton, QVBoxLayout, QWidget

from app.look.theme import Theme
from app.look.zoom import keep
from app.widgets.buttons import recolour, size_icon
from app.widgets.keyed import does

WIDTH = 72
ICON_PX = 22


class RailEntry(NamedTuple):
    """A page as the rail shows it: its key, one word, the qtawesome name of its icon."""

    key: str
    title: str
    icon: str


class Rail(QFrame):
    """Brings pages to the front.

    Signals:
        chosen: Key of the page to show.
    """

    chosen = Signal(str)

    def __init__(self, pages: Iterable[RailEntry], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        keep(self, self.setFixedWidth, WIDTH)
        self._buttons: dict[str, QToolButton] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(4)
        for page in pages:
            column.addWidget(self._button(page))
        column.addStretch(1)

    def show_page(self, key: str) -> None:
        """Mark the page in front; one that has no button leaves all unmarked."""
        for owner, button in self._buttons.items():
            button.setChecked(owner == key)

    def button(self, page: str) -> QToolButton:
        """The one of a page, by its key."""
        return self._buttons[page]

    def apply_theme(self, theme: Theme) -> None:
        """Draw the icons in a theme's colours."""
        for button in self._buttons.values():
            recolour(button, theme)

    def _button(self, page: RailEntry) -> QToolButton:
        button = QToolButton()
        button.setText(page.title)
        button.setCheckable(True)
        button.setAccessibleName(f"{page.title} page")
        button.setProperty("role", "rail")
        button.setProperty("iconName", page.icon)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        size_icon(button, ICON_PX)
        keep(button, button.setFixedSize, WIDTH - 1, 60)
        button.clicked.connect(lambda _checked=False: self.chosen.emit(page.key))
        self._buttons[page.key] = button
        return does(button, f"page.{page.key}")
