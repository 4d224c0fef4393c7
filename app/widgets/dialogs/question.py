"""A question, the last answer of which is safe: Return and Esc give it."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget


def confirmed(
    parent: QWidget, title: str, question: str, *, go_on: str, role: QMessageBox.ButtonRole, stay: str
) -> bool:
    """Ask once; whether to go on.

    Args:
        parent: The window that it belongs to.
        title: Of its own window.
        question: What is asked.
        go_on: The button that goes on.
        role: What that button does.
        stay: The button that leaves all as it is.
    """
    return answered(parent, title, question, {go_on: role}, stay=stay) == go_on


def answered(
    parent: QWidget, title: str, question: str, roles: Mapping[str, QMessageBox.ButtonRole], *, stay: str
) -> str:
    """Ask once; the text of the button that was pressed.

    Args:
        parent: The window that it belongs to.
        title: Of its own window.
        question: What is asked.
        roles: The buttons that do something, and what.
        stay: The button that leaves all as it is.
    """
    no_icon = QMessageBox.Icon.NoIcon  # there is none but the desktop's
    box = QMessageBox(no_icon, title, question, parent=parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    buttons = {text: box.addButton(text, role) for text, role in roles.items()}
    staying = box.addButton(stay, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(staying)
    box.setEscapeButton(staying)
    box.exec()
    box.deleteLater()
    pressed = box.clickedButton()
    return next((text for text, button in buttons.items() if button is pressed), stay)
