"""Collects garbage in the window's thread alone, between two turns of its event loop.

Python collects in whichever thread has made the most lately. Among what it finds may be objects of Qt's, such
as a timer, and Qt ends the process where another thread than the window's deletes one.
"""

import gc
import time

from PySide6.QtCore import QObject, QTimer

from flashscope.app.control.guard import guarded

TICK_MS = 100
OLDEST = len(gc.get_threshold()) - 1


class Garbage(QObject):
    """Looks for garbage as often as Python would, from its making on; Python itself does no more.

    The oldest generation is all there is, and to go through that may take longer than a picture may stand
    still: its turn comes once the younger ones have taken as long since, as where as much again was made.

    Args:
        parent: What it goes with.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._oldest_s = self._younger_s = 0.0  # what the last collection of all took, and those after it
        timer = QTimer(self, interval=TICK_MS)
        timer.timeout.connect(self.look)
        timer.start()

    @guarded()
    def look(self) -> None:
        """Collect the oldest generation that is due, and all younger ones with it."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in range(OLDEST, -1, -1):
            if counts[generation] > thresholds[generation] and self._may_take(generation):
                self._collect(generation)
                return

    def _may_take(self, generation: int) -> bool:
        return generation < OLDEST or self._younger_s >= self._oldest_s

    def _collect(self, generation: int) -> None:
        begun = time.monotonic()
        gc.collect(generation)
        took_s = time.monotonic() - begun
        if generation == OLDEST:
            self._oldest_s, self._younger_s = took_s, 0.0
        else:
            self._younger_s += took_s
