"""Asks whether a window may be closed that has a sweep running."""

from PySide6.QtWidgets import QMessageBox, QWidget

from flashscope.app.widgets.question import confirmed

CLOSE_QUESTION = "A sweep is running: stop it and close?"


def ask_to_close(window: QWidget) -> bool:
    """Ask once; whether to stop and close."""
    role = QMessageBox.ButtonRole.AcceptRole
    return confirmed(
        window, "Flashscope", CLOSE_QUESTION, go_on="Stop and close", role=role, stay="Keep running"
    )
