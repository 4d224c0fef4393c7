"""The wheel scrolls the page; it changes a field only while that has the keyboard focus."""

from typing import TYPE_CHECKING, Any, TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QWidget

from flashscope.app.control.guard import guarded

# What every kind of field extends; it stands before Qt's class of each, and Qt's classes allow no other.
if TYPE_CHECKING:
    _Field: TypeAlias = QWidget
else:
    _Field = object


class WheelInFocus(_Field):
    """A field that takes the wheel only while it has the focus, which the wheel does not give it."""

    def __init__(self, *args: Any, **properties: Any) -> None:
        super().__init__(*args, **properties)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @guarded()
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the value, or leave the wheel to what scrolls."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceBox(WheelInFocus, QComboBox):
    """A drop-down."""
