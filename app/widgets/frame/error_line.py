"""What went wrong or was done, in the line at the bottom of the window, with its details a click away."""

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import mono_font
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.widgets.buttons import DialogButtons, icon_button, recolour, text_button
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import button_text
from flashscope.app.words.plain import MOST_DETAILS, cut_short

UNDO_MS = 10_000


class ErrorLine(QFrame):
    """One message: an error that stays until it is dismissed, or a notice that can be undone for a while.

    Signals:
        turned: It is to be seen from now on, or no more.
    """

    turned = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("errorLine")
        self._details = ""
        self._act: Callable[[], None] | None = None
        self._here = False  # whether the message is about the view in front alone
        self._label = ElidedLabel()
        self._act_button = text_button("Undo", "Undo", self._do)
        self._details_button = text_button("Details", "Show the details of the message", self._show_details)
        self._copy_button = text_button("Copy", "Copy the message and its details", self._copy)
        self._timer = QTimer(self, singleShot=True, interval=UNDO_MS)
        self._timer.timeout.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._label, 1)
        for button in (self._act_button, self._details_button, self._copy_button):
            row.addWidget(button)
        self._close = icon_button("mdi6.close", "Dismiss the message", self.hide)
        row.addWidget(self._close)
        self.hide()

    def apply_theme(self, theme: Theme) -> None:
        """Draw the icon in a theme's colours."""
        recolour(self._close, theme)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Tell that there is a message."""
        super().showEvent(event)
        self.turned.emit()

    @guarded()
    def hideEvent(self, event: QHideEvent) -> None:
        """Tell that there is none any more."""
        super().hideEvent(event)
        self.turned.emit()

    @property
    def text(self) -> str:
        """The message on show."""
        return self._label.text()

    @property
    def _whole(self) -> str:
        return "\n\n".join(part for part in (self.text, self._details) if part)

    def show_error(self, text: str, details: str = "") -> None:
        """Show what went wrong."""
        self._fill("error", _in_one_line(text), details)
        self._timer.stop()

    def show_here(self, text: str) -> None:
        """Show what cannot be done in the view in front."""
        self.show_error(text)
        self._here = True

    def leave_view(self) -> None:
        """Another view is in front: say no more what was about the one before."""
        if self._here:
            self.hide()

    def offer(self, label: str, act: Callable[[], None]) -> None:
        """Add a button to the message on show."""
        self._act = act
        self._act_button.setText(button_text(label))
        self._act_button.setAccessibleName(label)
        self._act_button.show()

    def show_undo(self, text: str, undo: Callable[[], None]) -> None:
        """Say what was done, and offer for ten seconds to undo it."""
        self._fill("dim", text)
        self.offer("Undo", undo)
        self._timer.start()

    def withdraw(self, act: Callable[[], None] | None) -> None:
        """Take back a message whose button does what is done elsewhere now."""
        if act is not None and self._act is act:
            self._act = None
            self.hide()

    def take_back(self, text: str) -> None:
        """Say no more what went wrong: it is over; anything else stays."""
        if self.text == _in_one_line(text):
            self.hide()

    def show_progress(self, text: str) -> None:
        """Say what is being done, until something else is said."""
        self._fill("dim", text)
        self._timer.stop()

    def show_notice(self, text: str) -> None:
        """Say for ten seconds what was done."""
        self._fill("dim", text)
        self._timer.start()

    def _fill(self, role: str, text: str, details: str = "") -> None:
        self._details, self._act, self._here = cut_short(details, MOST_DETAILS), None, False
        self._label.setProperty("role", role)
        self._label.style().polish(self._label)
        self._label.setText(text)
        self._act_button.hide()
        for button in (self._details_button, self._copy_button):
            button.setVisible(role == "error")
        self.show()

    def _do(self) -> None:
        act, self._act = self._act, None
        self.hide()
        if act is not None:
            act()

    def _copy(self) -> None:
        copy_text(self._whole)

    def _show_details(self) -> None:
        dialog = QDialog(self)
        dialog.setWindowTitle("Details")
        text = QPlainTextEdit(self._whole, readOnly=True)
        text.setAccessibleName("Details of the message")
        text.setFont(mono_font())
        buttons = DialogButtons(QDialogButtonBox.StandardButton.Close)
        buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole).clicked.connect(self._copy)
        buttons.rejected.connect(dialog.reject)
        column = QVBoxLayout(dialog)
        column.addWidget(text)
        column.addWidget(buttons)
        dialog.resize(px(640), px(320))
        dialog.open()
        dialog.finished.connect(dialog.deleteLater)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
