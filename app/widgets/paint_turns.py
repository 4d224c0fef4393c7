"""Draws a page part by part, so that the event loop is never blocked for long."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from time import perf_counter

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from flashscope.app.control.appearance import is_turning

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


def nothing() -> None:
    """All that the turn of a part has to do that knows what it shows: it is painted then."""


class PaintTurns(QObject):
    """In each turn of the event loop, draws a piece of one part of a page, and then of what is out of sight.

    A part that waits shows what it showed before: what is no longer to be painted would vanish whenever
    something beside it is. Only on a page that has just been shown are parts left out until their turns,
    because all at once take too long.

    Args:
        page: Its parent.
        parts: The parts in their order, each with what draws it; long drawings are generators, which may be
            left between two steps. What is out of sight comes last.
        leading: Parts that others take something from: in sight or not they come where they stand.
    """

    def __init__(
        self, page: QWidget, parts: Mapping[QWidget, Draw], leading: Collection[QWidget] = ()
    ) -> None:
        super().__init__(page)
        self._parts, self._leading = parts, leading
        self._waiting: list[QWidget] = []
        self._covered: set[QWidget] = set()
        self._first: Callable[[], None] | None = None  # that comes before any part
        self._part: QWidget | None = None  # that is being drawn
        self._steps: Iterator[None] = iter(())  # of that part
        self._timer = QTimer(self, interval=PAUSE_MS, singleShot=True)
        self._timer.timeout.connect(self._tick)

    def start(self, parts: Iterable[QWidget] | None = None) -> None:
        """Draw these parts, or all, one after the other; those that wait already keep their places."""
        for part in self._parts if parts is None else parts:
            if part not in self._waiting:
                part.setProperty(WAITS, True)
                self._waiting.append(part)
            elif part is self._part:
                self._part = None  # what it was drawn for has changed
        if not self._timer.isActive():
            self._timer.start()

    def start_covered(self) -> None:
        """The same of a page that is being shown: nothing is painted of a part before it was drawn."""
        for part in self._parts:
            part.setUpdatesEnabled(False)
            self._covered.add(part)
        self.start()

    def start_after(self, first: Callable[[], None]) -> None:
        """Do something in a turn of its own, before any part is drawn, as to give all of them other sizes."""
        self._first = first
        self._timer.start()

    @property
    def idle(self) -> bool:
        """Whether every part has been drawn."""
        return not self._waiting and self._first is None

    @property
    def seen(self) -> bool:
        """Whether every part has been drawn that is in sight."""
        return self._first is None and not any(self._comes_early(part) for part in self._waiting)

    def finish(self) -> None:
        """Draw every part now, as before a screenshot."""
        while not self.idle:
            self._next()

    def _tick(self) -> None:
        """A turn, unless the theme or the zoom is being changed: then all is drawn anew."""
        if is_turning():
            self._timer.start()
        else:
            self._next()

    def _next(self) -> None:
        """One turn; the next begins a pause after it, when what was drawn has been painted."""
        first, self._first = self._first, None
        begun = perf_counter()
        try:
            if first is not None:
                first()
            else:
                while self._waiting and not self._draw_on(begun):
                    pass
        finally:
            if self.idle:
                self._timer.stop()
            else:
                self._timer.start()

    def _draw_on(self, begun: float) -> bool:
        """Draw on with a part; whether the turn is over: it is once there is something to be painted."""
        part = self._part or next(filter(self._comes_early, self._waiting), self._waiting[0])
        try:
            if self._drawn(part, begun):
                self._end(part)
        except Exception:
            self._end(part)  # it stays as it is: the parts after it have their turns all the same
            raise
        return part.isVisible() or perf_counter() - begun > TURN_S

    def _comes_early(self, part: QWidget) -> bool:
        return part.isVisible() or part in self._leading

    def _drawn(self, part: QWidget, begun: float) -> bool:
        """Draw on for a turn; whether there is nothing left to draw."""
        if self._part is not part:
            self._part, self._steps = part, iter(self._parts[part]() or ())
        return not any(perf_counter() - begun > TURN_S for _ in self._steps)

    def _end(self, part: QWidget) -> None:
        self._part, self._steps = None, iter(())
        self._waiting.remove(part)
        part.setProperty(WAITS, False)
        if part in self._covered:
            self._covered.remove(part)
            part.setUpdatesEnabled(True)
