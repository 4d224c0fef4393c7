"""Collects garbage in the window's thread alone, between two turns of its event loop.

Python collects in whichever thread has made the most lately. Among what it finds may be objects of Qt's, such
as a timer, and Qt ends the process where another thread than the window's deletes one.
"""

import gc
import time

from PySide6.QtCore import QObject, QTimer

from flashscope.app.control.guard import guarded

TICK_MS = 100
SHARE = 0.01  # of the time, which full collections may take: they go through all there is
OLDEST = len(gc.get_threshold()) - 1


class Garbage(QObject):
    """Looks for garbage as often as Python would, from its making on; Python itself does no more.

    Args:
        parent: What it goes with.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._not_before = 0.0  # full collections
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
        return generation < OLDEST or time.monotonic() >= self._not_before

    def _collect(self, generation: int) -> None:
        begun = time.monotonic()
        gc.collect(generation)
        ended = time.monotonic()
        if generation == OLDEST:
            self._not_before = ended + (ended - begun) / SHARE
