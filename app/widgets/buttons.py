"""Buttons as the whole window makes them, each with an accessible name."""

from collections.abc import Callable

import qtawesome
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QMouseEvent, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialogButtonBox,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QToolButton,
)

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.widgets.plain import button_text, set_tip

ICON_PX = 16


def themed_icon(name: str, theme: Theme, colour: str = "") -> QIcon:
    """A qtawesome icon in a theme's colours; the text's colour unless another is given."""
    icon: QIcon = qtawesome.icon(name, color=colour or theme.text, color_disabled=theme.off)
    return icon


def text_button(
    text: str, name: str, clicked: Callable[[], object], role: str = "", kind: type[QPushButton] = QPushButton
) -> QPushButton:
    """A push button; `name` is what a screen reader says, `role` is one of the stylesheet's."""
    button = kind(button_text(text))
    button.setAccessibleName(name)
    if role:
        button.setProperty("role", role)
    button.clicked.connect(lambda _checked=False: clicked())
    return button


class ElidedLink(QPushButton):
    """A link as wide as there is room, broken into two lines where its words need them.

    What is still too long ends in an ellipsis, and the tool tip has all of it.

    Args:
        text: The text.
        name: What a screen reader says.
        clicked: What it does.
    """

    def __init__(self, text: str, name: str, clicked: Callable[[], object]) -> None:
        super().__init__(button_text(text))
        self._whole = text
        self.setAccessibleName(name)
        self.setProperty("role", "link")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.clicked.connect(lambda _checked=False: clicked())

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the text to the new width."""
        super().resizeEvent(event)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self).width()
        metrics, end = self.fontMetrics(), Qt.TextElideMode.ElideRight
        lines = [*filter(None, in_two_lines(self._whole, metrics.horizontalAdvance, room))]
        shown = [metrics.elidedText(line, end, room) for line in lines]
        self.setText("\n".join(map(button_text, shown)))
        set_tip(self, "" if shown == lines else self._whole)


def in_two_lines(text: str, width: Callable[[str], int], room: int) -> tuple[str, str]:
    """The words that fit into the first of two lines, one at least, and the rest; `width`: of a text."""
    words = text.split()
    fitting = [k for k in range(2, len(words) + 1) if width(" ".join(words[:k])) <= room]
    most = max(fitting, default=1)
    return " ".join(words[:most]), " ".join(words[most:])


class DialogButtons(QDialogButtonBox):
    """The buttons of a dialog: a desktop puts icons on those that Qt knows, in colours of its own."""

    def __init__(self, standard: QDialogButtonBox.StandardButton) -> None:
        super().__init__(standard)
        for button in self.buttons():
            button.setIcon(QIcon())


class SteadyButton(QPushButton):
    """One that comes under the pointer where another was; a double click on that does not press it."""

    _pressed = False

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Nobody has pressed it since."""
        super().showEvent(event)
        self._pressed = False

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Be pressed."""
        self._pressed = True
        super().mousePressEvent(event)

    @guarded()
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Be pressed once more, if the first press was its own."""
        if self._pressed:
            super().mouseDoubleClickEvent(event)


class IconButton(QToolButton):
    """A button with an icon only."""

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint nothing where a layout has left no room yet: qtawesome takes no icon of a negative size."""
        room = self.size() - (self.minimumSizeHint() - self.iconSize())
        if not room.isEmpty():
            super().paintEvent(event)


def icon_button(icon: str, name: str, clicked: Callable[[], object]) -> QToolButton:
    """A button with an icon only; the name is its tool tip too. `recolour` gives it a theme's colours."""
    button = IconButton()
    button.setAccessibleName(name)
    set_tip(button, name)
    button.setProperty("role", "quiet")
    button.setProperty("iconName", icon)
    size_icon(button, ICON_PX)
    button.clicked.connect(lambda _checked=False: clicked())
    return button


def size_icon(button: QAbstractButton, side: int) -> None:
    """Give a button's icon this many pixels at 100 %, and as many as that makes at another zoom."""
    keep(button, lambda zoomed: button.setIconSize(QSize(zoomed, zoomed)), side)


def recolour(button: QToolButton | QPushButton, theme: Theme, colour: str = "") -> None:
    """Draw a button's icon, named by its `iconName` property, in a theme's colours."""
    name = button.property("iconName")
    if name:
        button.setIcon(themed_icon(str(name), theme, colour))
