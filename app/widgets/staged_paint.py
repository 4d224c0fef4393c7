"""Paints a page part by part, so that the event loop is never blocked for long."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

PAUSE_MS = 4  # between two turns: long enough for the event loop to do what else there is
TURN_S = 0.012  # of preparing, plus what the step takes that is begun then

Prepare = Callable[[], Iterable[None] | None]


class StagedPaint(QObject):
    """In each turn of the event loop, prepares a piece of one part of a page, or paints one part.

    Args:
        page: Its parent.
        parts: The parts in the order of painting, each with what to call before it; long preparations are
            generators, which may be left between two steps.
    """

    def __init__(self, page: QWidget, parts: Mapping[QWidget, Prepare]) -> None:
        super().__init__(page)
        self._parts = parts
        self._waiting: list[QWidget] = []
        self._steps: Iterator[None] | None = None  # of the first part that waits, None before its first turn
        self._ready = False  # whether that part was prepared to its end
        self._timer = QTimer(self, interval=PAUSE_MS)
        self._timer.timeout.connect(self._next)

    def start(self, parts: Iterable[QWidget] | None = None) -> None:
        """Hold these parts back, or all, and paint them one by one; those already waiting keep their turn."""
        for part in self._parts if parts is None else parts:
            if part not in self._waiting:
                part.setUpdatesEnabled(False)
                self._waiting.append(part)
            elif part is self._waiting[0]:
                self._begin_anew()  # what it was prepared for has changed
        if not self._timer.isActive():
            self._timer.start()

    @property
    def idle(self) -> bool:
        """Whether every part has been painted."""
        return not self._waiting

    def finish(self) -> None:
        """Paint every part now, as before a screenshot: parts that wait would be black in it."""
        while self._waiting:
            self._next()

    def _begin_anew(self) -> None:
        self._steps, self._ready = None, False

    def _next(self) -> None:
        part = self._waiting[0]
        if self._ready:
            self._paint(part)
        else:
            self._prepare(part)

    def _prepare(self, part: QWidget) -> None:
        begun = perf_counter()
        try:
            if self._steps is None:
                self._steps = iter(self._parts[part]() or ())
            for _ in self._steps:
                if perf_counter() - begun > TURN_S:
                    return
        except Exception:
            self._ready = True  # it is painted as it is: the parts after it have their turns all the same
            raise
        self._ready = True

    def _paint(self, part: QWidget) -> None:
        """Paint it in this turn: merely allowed to, it would be painted along with the next part's turn."""
        self._begin_anew()
        self._waiting.remove(part)
        part.setUpdatesEnabled(True)
        part.repaint()
        if not self._waiting:
            self._timer.stop()
