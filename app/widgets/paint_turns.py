"""Draws a page part by part, so that the event loop is never blocked for long."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

PAUSE_MS = 4  # between two turns: long enough for the event loop to do what else there is
TURN_S = 0.012  # of drawing, plus what the step takes that is begun then
WAITS = "waits"

Draw = Callable[[], Iterable[None] | None]


def waits(part: QWidget) -> bool:
    """Whether a part's turn is still to come: then it is not to be drawn by itself."""
    return bool(part.property(WAITS))


def draw_unless_waiting(part: QWidget, draw: Draw) -> bool:
    """Draw a part at once, to its last step, unless its turn is still to come; whether it was drawn."""
    if waits(part):
        return False
    for _ in draw() or ():
        pass
    return True


class PaintTurns(QObject):
    """In each turn of the event loop, draws a piece of one part of a page.

    A part that waits shows what it showed before: what is no longer to be painted would vanish whenever
    something beside it is. Only on a page that has just been shown are parts left out until their turns,
    because all at once take too long.

    Args:
        page: Its parent.
        parts: The parts in their order, each with what draws it; long drawings are generators, which may be
            left between two steps.
    """

    def __init__(self, page: QWidget, parts: Mapping[QWidget, Draw]) -> None:
        super().__init__(page)
        self._parts = parts
        self._waiting: list[QWidget] = []
        self._covered: set[QWidget] = set()
        self._steps: Iterator[None] | None = None  # of the first part that waits, None before its first turn
        self._timer = QTimer(self, interval=PAUSE_MS, singleShot=True)
        self._timer.timeout.connect(self._next)

    def start(self, parts: Iterable[QWidget] | None = None) -> None:
        """Draw these parts, or all, one after the other; those that wait already keep their places."""
        for part in self._parts if parts is None else parts:
            if part not in self._waiting:
                part.setProperty(WAITS, True)
                self._waiting.append(part)
            elif part is self._waiting[0]:
                self._steps = None  # what it was drawn for has changed
        if not self._timer.isActive():
            self._timer.start()

    def start_covered(self) -> None:
        """The same of a page that is being shown: nothing is painted of a part before it was drawn."""
        for part in self._parts:
            part.setUpdatesEnabled(False)
            self._covered.add(part)
        self.start()

    @property
    def idle(self) -> bool:
        """Whether every part has been drawn."""
        return not self._waiting

    def finish(self) -> None:
        """Draw every part now, as before a screenshot."""
        while self._waiting:
            self._next()

    def _next(self) -> None:
        """One turn; the next begins a pause after it, when what was drawn has been painted."""
        part = self._waiting[0]
        try:
            if self._drawn(part):
                self._end(part)
        except Exception:
            self._end(part)  # it stays as it is: the parts after it have their turns all the same
            raise
        finally:
            if self._waiting:
                self._timer.start()
            else:
                self._timer.stop()

    def _drawn(self, part: QWidget) -> bool:
        """Draw on for a turn; whether there is nothing left to draw."""
        begun = perf_counter()
        if self._steps is None:
            self._steps = iter(self._parts[part]() or ())
        return not any(perf_counter() - begun > TURN_S for _ in self._steps)

    def _end(self, part: QWidget) -> None:
        self._steps = None
        self._waiting.remove(part)
        part.setProperty(WAITS, False)
        if part in self._covered:
            self._covered.remove(part)
            part.setUpdatesEnabled(True)
