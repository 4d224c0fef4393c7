"""Menus that are made when they are asked for."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget


def pop_up(menu: QMenu, place: QPoint) -> None:
    """Open a menu at a place on the screen; it is gone once it has been closed."""
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(place)


def commands_of(widget: QWidget, keys: Sequence[str]) -> list[QAction]:
    """Those commands of a widget's window that have these keys in its registry."""
    found = (widget.window().findChild(QAction, key) for key in keys)
    return [action for action in found if action is not None]
