"""Asks whether a window may be closed that has a sweep running."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

CLOSE_QUESTION = "A sweep is running: stop it and close?"


def ask_to_close(window: QWidget) -> bool:
    """Ask once; whether to stop and close."""
    box = QMessageBox(QMessageBox.Icon.Question, "Flashscope", CLOSE_QUESTION, parent=window)
    box.setTextFormat(Qt.TextFormat.PlainText)
    stop = box.addButton("Stop and close", QMessageBox.ButtonRole.AcceptRole)
    keep = box.addButton("Keep running", QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(keep)
    box.setEscapeButton(keep)
    box.exec()
    box.deleteLater()
    return box.clickedButton() is stop
