"""The left rail: one button a place."""

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLayout, QToolButton, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, keep, px
from flashscope.app.widgets.buttons import recolour, size_icon
from flashscope.app.widgets.keyed import does

WIDTH = 72
ICON_PX = 22
TALL, LEAST = 60, 28  # pixels of a button with its word, and of one without
MARGIN, GAP = 8, 4


@dataclass(frozen=True)
class RailEntry:
    """A place as the rail shows it: its key, one word, the qtawesome name of its icon."""

    key: str
    title: str
    icon: str


class Rail(QFrame):
    """Brings places to the front. Where a window is too low for all of their words, icons stand alone.

    Signals:
        chosen: Key of the place to show.
    """

    chosen = Signal(str)

    def __init__(self, places: Iterable[RailEntry], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        keep(self, self.setFixedWidth, WIDTH)
        self._buttons: dict[str, QToolButton] = {}
        self._shown = ""
        column = QVBoxLayout(self)
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # as low as is said below
        column.setContentsMargins(0, MARGIN, 0, MARGIN)
        column.setSpacing(GAP)
        for place in places:
            column.addWidget(self._button(place))
        column.addStretch(1)
        ZOOM.changed.connect(self._fit)

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """Room for the icons."""
        return QSize(px(WIDTH), len(self._buttons) * (px(LEAST) + GAP) + 2 * MARGIN)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show words, or leave them out."""
        super().resizeEvent(event)
        self._fit()

    def show_place(self, key: str) -> None:
        """Mark the place in front."""
        self._shown = key
        for owner, button in self._buttons.items():
            button.setChecked(owner == key)

    def button(self, place: str) -> QToolButton:
        """The one of a place, by its key."""
        return self._buttons[place]

    def apply_theme(self, theme: Theme) -> None:
        """Draw the icons in a theme's colours."""
        for button in self._buttons.values():
            recolour(button, theme)

    def _fit(self) -> None:
        """Share the height among the buttons."""
        room = (self.height() - 2 * MARGIN) // max(1, len(self._buttons)) - GAP
        tall = room >= px(TALL)
        under, alone = Qt.ToolButtonStyle.ToolButtonTextUnderIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        for button in self._buttons.values():
            button.setToolButtonStyle(under if tall else alone)
            button.setFixedHeight(px(TALL) if tall else max(px(LEAST), room))

    def _choose(self, key: str) -> None:
        """Ask for a place; its button is marked once it is in front."""
        self.show_place(self._shown)
        self.chosen.emit(key)

    def _button(self, place: RailEntry) -> QToolButton:
        button = QToolButton()
        button.setText(place.title)
        button.setCheckable(True)
        button.setAccessibleName(place.title)
        button.setProperty("role", "rail")
        button.setProperty("iconName", place.icon)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        size_icon(button, ICON_PX)
        keep(button, button.setFixedWidth, WIDTH - 1)
        button.clicked.connect(lambda _checked=False: self._choose(place.key))
        self._buttons[place.key] = button
        return does(button, f"place.{place.key}")
