"""A click on a stage goes on, and one with the other button goes back."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QMouseEvent, QWindow
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QWidget,
)

from flashscope.app.control.guard import guarded

CONTROLS = QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit
PRESSES = QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick
STEPS = {Qt.MouseButton.LeftButton: 1, Qt.MouseButton.RightButton: -1}


class Clicks(QObject):
    """Takes the clicks of a window while stops are walked, those on a control left to it.

    It listens to the system's window, which has every click first: nothing is chosen in a plot, and no menu
    opens.

    Args:
        window: What presents.
        step: Goes so many stops on, or back.
    """

    def __init__(self, window: QWidget, step: Callable[[int], None]) -> None:
        super().__init__(window)
        self._window, self._step = window, step
        self._handle: QWindow | None = None
        self._pressed: Qt.MouseButton | None = None

    def take(self, on: bool) -> None:
        """Take them, or leave them to what is clicked."""
        if self._handle is not None:
            self._handle.removeEventFilter(self)
        self._handle, self._pressed = (self._native() if on else None), None
        if self._handle is not None:
            self._handle.installEventFilter(self)

    def _native(self) -> QWindow | None:
        self._window.winId()  # there is none yet of a window that was not shown
        return self._window.windowHandle()

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take a press and its release, and step with the latter."""
        if not isinstance(event, QMouseEvent) or event.button() not in STEPS:
            return super().eventFilter(watched, event)
        if event.type() in PRESSES and not self._on_control(event.position().toPoint()):
            self._pressed = event.button()
            return True
        if event.type() == QEvent.Type.MouseButtonRelease and self._pressed == event.button():
            self._pressed = None
            self._step(STEPS[event.button()])
            return True
        return False

    def _on_control(self, place: QPoint) -> bool:
        """Whether there is something that a click works."""
        found = self._window.childAt(place)
        while found is not None and found is not self._window:
            if isinstance(found, CONTROLS):
                return found.isEnabled()
            found = found.parentWidget()
        return False
