"""Where the keyboard focus goes: in the order of reading, and home when what has it goes or is disabled."""

from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QScrollArea, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.widgets.frame.reading_order import reading_order, takes_tab

# What it extends; it stands before Qt's class of a window, and Qt's classes allow no other.
if TYPE_CHECKING:
    _Window: TypeAlias = QWidget
else:
    _Window = object


class FocusHome(_Window):
    """A window that the Tab key leads through in the order of reading.

    It keeps the focus from going to a button by itself: Space might do harm there.
    """

    @property
    def focus_home(self) -> QWidget:
        """What takes the focus instead."""
        raise NotImplementedError

    @property
    def aside(self) -> tuple[QWidget, QWidget] | None:
        """What lies over all else, and the part after which it is read; None: nothing does."""
        return None

    @guarded(bool)
    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus on; Qt asks for that for the Tab key, and when what has the focus goes."""
        focused = self.focusWidget()
        gone = focused is not None and not (focused.isVisible() and focused.isEnabled())
        if not gone:
            return self._move_on(focused, forward=forward)
        moved = super().focusNextPrevChild(forward)
        if isinstance(self.focusWidget(), QAbstractButton):
            self.focus_home.setFocus()
        return moved

    def _move_on(self, focused: QWidget | None, *, forward: bool) -> bool:
        stops = self._stops(focused)
        if focused in stops:
            at = stops.index(focused)
            stops = stops[at + 1 :] + stops[:at]
        reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
        following = next((one for one in (stops if forward else reversed(stops)) if takes_tab(one)), None)
        if following is None:
            return False
        following.setFocus(reason)
        holder = following.parentWidget()
        while holder is not None:
            if isinstance(holder, QScrollArea):
                holder.ensureWidgetVisible(following)
            holder = holder.parentWidget()
        return True

    def _stops(self, focused: QWidget | None) -> list[QWidget]:
        """What takes the key in its order, and among that what has the focus now."""
        over, about = self.aside or (None, None)
        stops = reading_order(self, [one for one in (focused, about) if one is not None])
        if over is None or about not in stops:
            return stops
        above = [one for one in stops if over.isAncestorOf(one)]
        stops = [one for one in stops if one not in above]
        after = stops.index(about) + 1
        return stops[:after] + above + stops[after:]
