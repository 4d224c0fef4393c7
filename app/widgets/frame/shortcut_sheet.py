"""The `?` sheet: every key, by group."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from flashscope.app.control.actions import Action, ActionRegistry
from flashscope.app.look.zoom import px
from flashscope.app.widgets.buttons import DialogButtons
from flashscope.app.widgets.plain import PlainLabel


class ShortcutSheet(QDialog):
    """All actions that have a key."""

    def __init__(self, registry: ActionRegistry, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        inner = QWidget()
        grid = QGridLayout(inner)
        grid.setHorizontalSpacing(32)
        grid.setColumnStretch(0, 1)
        for group, actions in registry.groups().items():
            self._add_group(grid, group, [action for action in actions if action.shortcut])
        grid.setRowStretch(grid.rowCount(), 1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setWidget(inner)
        scroll.setMinimumWidth(inner.sizeHint().width() + scroll.verticalScrollBar().sizeHint().width())
        scroll.setAccessibleName("Keyboard shortcuts")
        buttons = DialogButtons(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(scroll)
        column.addWidget(buttons)
        self.resize(px(440), px(560))

    @staticmethod
    def _add_group(grid: QGridLayout, group: str, actions: list[Action]) -> None:
        if not actions:
            return
        caption = PlainLabel(group)
        caption.setProperty("role", "caption")
        grid.addWidget(caption, grid.rowCount(), 0, 1, 2)
        for action in actions:
            row = grid.rowCount()
            keys = PlainLabel("  or  ".join(action.shown_keys))
            keys.setProperty("role", "dim")
            grid.addWidget(PlainLabel(action.title), row, 0)
            grid.addWidget(keys, row, 1, Qt.AlignmentFlag.AlignRight)
