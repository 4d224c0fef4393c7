"""Where the keyboard focus goes when what has it goes or is disabled; Qt gives it to what stands next."""

from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtWidgets import QAbstractButton, QWidget

from flashscope.app.control.guard import guarded

# What it extends; it stands before Qt's class of a window, and Qt's classes allow no other.
if TYPE_CHECKING:
    _Window: TypeAlias = QWidget
else:
    _Window = object


class FocusHome(_Window):
    """A window that keeps the focus from going to a button by itself: Space might do harm there."""

    @property
    def focus_home(self) -> QWidget:
        """What takes the focus instead."""
        raise NotImplementedError

    @guarded(bool)
    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus on; Qt asks for that for the Tab key, and when what has the focus goes."""
        focused = self.focusWidget()
        gone = focused is not None and not (focused.isVisible() and focused.isEnabled())
        moved = super().focusNextPrevChild(forward)
        if gone and isinstance(self.focusWidget(), QAbstractButton):
            self.focus_home.setFocus()
        return moved
