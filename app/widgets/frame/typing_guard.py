"""Which keys the focused widget needs itself, so that they must not trigger shortcuts."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QToolButton,
    QWidget,
)

TYPED_INTO = (QLineEdit, QPlainTextEdit, QTextEdit)
OF_NUMBERS = "0123456789+-.,"  # what a number is typed with: no other key means anything to its field
MOVED_IN = (QComboBox, QAbstractSlider, QAbstractItemView)
PRESSED = (QAbstractButton, QComboBox)
ARROWS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right}
ALONG_TABS = {Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End}
ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}
MOVES = ARROWS | {
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
}
COMMAND = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)
MOVED_BY_SHORTCUTS = "movedByShortcuts"  # a property of what the page's own keys move
FUNCTION_KEYS = range(Qt.Key.Key_F1, Qt.Key.Key_F35 + 1)


def belongs_to_input(event: QEvent, focused: QWidget | None) -> bool:
    """Whether the focused widget uses a key itself: to type, to move a selection or to press a button."""
    if not isinstance(event, QKeyEvent) or focused is None:
        return False
    key = event.key()
    if event.modifiers() & COMMAND or key == Qt.Key.Key_Escape or key in FUNCTION_KEYS:
        return False
    if isinstance(focused, QAbstractSpinBox):
        return not event.text().isprintable() or not event.text() or event.text() in OF_NUMBERS
    if isinstance(focused, TYPED_INTO):
        return not focused.isReadOnly() or key in MOVES
    if isinstance(focused, MOVED_IN) and key in MOVES:
        return not focused.property(MOVED_BY_SHORTCUTS)
    return _pressed_by(key, focused)


def press_focused(event: QKeyEvent, focused: QWidget | None) -> bool:
    """Press the focused button by Return, which no shortcut took; whether it did. Qt leaves that to dialogs.

    A button that has a menu alone opens that.
    """
    if event.key() not in ENTER or event.modifiers() & COMMAND or not isinstance(focused, QAbstractButton):
        return False
    if (
        isinstance(focused, QToolButton)
        and focused.popupMode() == QToolButton.ToolButtonPopupMode.InstantPopup
    ):
        focused.showMenu()
    else:
        focused.click()
    return True


def _pressed_by(key: int, focused: QWidget) -> bool:
    """Whether a key presses a button, or goes from one to the next where they are one choice, or tabs."""
    if isinstance(focused, QTabBar):
        return key in ALONG_TABS
    if isinstance(focused, QAbstractButton) and key in ARROWS:
        return focused.group() is not None
    return isinstance(focused, PRESSED) and key == Qt.Key.Key_Space
