"""Menus that are made when they are asked for."""

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu


def pop_up(menu: QMenu, place: QPoint) -> None:
    """Open a menu at a place on the screen; it is gone once it has been closed."""
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(place)
