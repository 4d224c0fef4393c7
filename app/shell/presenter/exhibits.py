"""Which of the parts of a page is meant that may fill a stage alone."""

from collections.abc import Callable, Sequence

from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QWidget


def pointed_at(exhibits: Sequence[QWidget]) -> QWidget | None:
    """The one with the focus, else under the pointer, else the first; None: none of them is in sight."""
    focused, here = QApplication.focusWidget(), QCursor.pos()
    marks: tuple[Callable[[QWidget], bool], ...] = (
        lambda one: focused is not None and one.isAncestorOf(focused),
        lambda one: one.rect().contains(one.mapFromGlobal(here)),
        lambda _one: True,
    )
    return next((one for mark in marks for one in exhibits if one.isVisible() and mark(one)), None)
