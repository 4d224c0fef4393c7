"""A question with two answers, of which the second is safe: Return and Esc give it."""

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
    box = QMessageBox(QMessageBox.Icon.Question, title, question, parent=parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    going = box.addButton(go_on, role)
    staying = box.addButton(stay, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(staying)
    box.setEscapeButton(staying)
    box.exec()
    box.deleteLater()
    return box.clickedButton() is going
