"""Number fields that leave to shortcuts what no number is typed with."""

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

from app.control.guard import guarded
from app.widgets.typing_guard import belongs_to_input


class WholeField(QSpinBox):
    """A whole number; Qt's own field takes letters from shortcuts, too."""

    @guarded(bool)
    def event(self, event: QEvent) -> bool:
        """Let a shortcut have its key."""
        return False if _is_for_shortcuts(event, self) else super().event(event)


class DecimalField(QDoubleSpinBox):
    """The same for a number with decimals."""

    @guarded(bool)
    def event(self, event: QEvent) -> bool:
        """Let a shortcut have its key."""
        return False if _is_for_shortcuts(event, self) else super().event(event)


def _is_for_shortcuts(event: QEvent, field: QSpinBox | QDoubleSpinBox) -> bool:
    return event.type() == QEvent.Type.ShortcutOverride and not belongs_to_input(event, field)
