"""Paints a page part by part, so that the event loop is never blocked for long."""

from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

TURN_MS = 4  # long enough for one part to be painted before the next may be


class StagedPaint(QObject):
    """Paints one part of a page in each turn of the event loop.

    Args:
        page: Its parent.
        parts: The parts in the order of painting, each with a function to call just before it, or None.
    """

    def __init__(self, page: QWidget, parts: Mapping[QWidget, Callable[[], None] | None]) -> None:
        super().__init__(page)
        self._parts = parts
        self._waiting: list[QWidget] = []
        self._timer = QTimer(self, interval=TURN_MS)
        self._timer.timeout.connect(self._next)

    def start(self, parts: Iterable[QWidget] | None = None) -> None:
        """Hold these parts back, or all, and paint them one by one; those already waiting keep their turn."""
        for part in self._parts if parts is None else parts:
            if part not in self._waiting:
                part.setUpdatesEnabled(False)
                self._waiting.append(part)
        if not self._timer.isActive():
            self._timer.start()

    def finish(self) -> None:
        """Paint every part now, as before a screenshot: parts that wait would be black in it."""
        while self._waiting:
            self._next()

    def _next(self) -> None:
        part = self._waiting.pop(0)
        prepare = self._parts[part]
        if prepare is not None:
            prepare()
        part.setUpdatesEnabled(True)
        if not self._waiting:
            self._timer.stop()
