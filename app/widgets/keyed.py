"""Buttons that do what an action does: their tool tips name its keys."""

from typing import TypeVar

from PySide6.QtWidgets import QAbstractButton, QWidget

from flashscope.app.control.actions import ActionRegistry
from flashscope.app.widgets.plain import KEYS, set_tip
from flashscope.app.words.glossary import with_line

ACTION = "action"
Button = TypeVar("Button", bound=QAbstractButton)


def does(button: Button, key: str) -> Button:
    """The same button, which does what the action of this key does."""
    button.setProperty(ACTION, key)
    return button


def name_keys(window: QWidget, registry: ActionRegistry) -> None:
    """Let the tool tips of a window's buttons end in the keys of their actions; without a tip, name these."""
    for button in window.findChildren(QAbstractButton):
        action = registry.known(button.property(ACTION))
        if action is not None and button.property(KEYS) is None:
            button.setProperty(KEYS, ", ".join(action.shown_keys))
            set_tip(button, with_line(button.text(), button.toolTip() or action.title))
