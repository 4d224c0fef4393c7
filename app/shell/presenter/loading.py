"""Waits until what comes is laid out and drawn whole, so that an audience never sees half of it."""

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.widgets.paint_turns import PaintTurns

LOOK_MS = 8  # between two looks
LOOKS = 2  # in a row that must find nothing left to do: what was done last is laid out by then
HELD_S = 0.4  # in which what was on show before may stay
LONGEST_S = 5.0  # after which it is shown as it is


class Loading(QObject):
    """Looks again and again whether everything is there.

    Attributes:
        on: Whether it waits.
        covered: Whether nothing is to be seen meanwhile, or what was there before.

    Signals:
        changed: One of these.

    Args:
        parent: Its owner.
        ready: Whether all is there that is not drawn in the background.
    """

    changed = Signal()

    def __init__(self, parent: QObject, ready: Callable[[], bool]) -> None:
        super().__init__(parent)
        self.on = self.covered = False
        self._ready = ready
        self._page: QWidget | None = None
        self._begun, self._looks = 0.0, 0
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)

    def begin(self, *, covered: bool) -> None:
        """Wait from now on."""
        self._begun, self._looks = monotonic(), 0
        self.on, self.covered = True, covered or (self.on and self.covered)
        self._timer.start()
        self.changed.emit()

    def watch(self, page: QWidget) -> None:
        """Wait for what is drawn and read in this page, too."""
        self._page = page

    def end(self) -> None:
        """Wait no longer."""
        self._timer.stop()
        if self.on:
            self.on = self.covered = False
            self.changed.emit()

    def _look(self) -> None:
        waited = monotonic() - self._begun
        self._looks = self._looks + 1 if self._ready() and self._drawn else 0
        if self._looks == LOOKS and self._page is not None:
            self._page.grab()  # axes know their sizes once they were painted
        if self._looks > LOOKS or waited > LONGEST_S:
            self.end()
        elif waited > HELD_S and not self.covered:
            self.covered = True
            self.changed.emit()

    @property
    def _drawn(self) -> bool:
        """Whether the page has nothing left to draw that is in sight, and to read."""
        page = self._page
        if page is None:
            return False
        drawn = all(turns.seen for turns in page.findChildren(PaintTurns))
        return drawn and all(chores.idle for chores in page.findChildren(Chores))
