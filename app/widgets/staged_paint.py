"""Painting a page part by part: all its plots at once would hold the event loop for too long."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

TURN_MS = 8  # long enough for one part to be painted before the next may be


class StagedPaint(QObject):
    """Lets the parts of a page be painted one in a turn of the event loop."""

    def __init__(self, page: QWidget, parts: Sequence[QWidget]) -> None:
        super().__init__(page)
        self._parts = tuple(parts)
        self._waiting: list[QWidget] = []
        self._timer = QTimer(self, interval=TURN_MS)
        self._timer.timeout.connect(self._next)

    def start(self) -> None:
        """Hold every part back and let them go one by one; those that wait already keep their place."""
        for part in self._parts:
            if part not in self._waiting:
                part.setUpdatesEnabled(False)
                self._waiting.append(part)
        if not self._timer.isActive():
            self._timer.start()

    def _next(self) -> None:
        self._waiting.pop(0).setUpdatesEnabled(True)
        if not self._waiting:
            self._timer.stop()
