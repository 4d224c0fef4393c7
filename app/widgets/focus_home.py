"""Where the keyboard focus goes when what has it goes or is disabled; Qt gives it to what stands next."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from shiboken6 import isValid

from flashscope.app.control.guard import guarded


class FocusHome(QObject):
    """Gives the focus to `home` where it would go to a button by itself: Space might do harm there.

    Args:
        window: The window or the dialog in which it does so.
        home: What takes the focus.
    """

    def __init__(self, window: QWidget, home: Callable[[], QWidget]) -> None:
        super().__init__(window)
        self._window, self._home = window, home
        QApplication.instance().focusChanged.connect(self._follow)

    @guarded()
    def _follow(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is None or not isinstance(new, QAbstractButton) or not isValid(old):
            return
        kept = old.isVisible() and old.isEnabled()
        if not kept and old.window() is new.window() is self._window:
            self._home().setFocus()
