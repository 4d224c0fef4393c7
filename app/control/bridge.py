"""From threads to the window's: many events in, one signal at most 30 times a second out."""

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from flashscope.profiles.running.recording import FileNote
from flashscope.profiles.wire.events import (
    Event,
    PlanResumed,
    PlanStarted,
    PointFailed,
    PointMeasured,
    PointProgress,
)

TICK_MS = 33
TAKEN_PER_TICK = 4000  # scanning this many takes about a millisecond
GIVEN_PER_TICK = 500  # what listeners get at once


class Bridge(QObject):
    """The sink of one driver: of its engine and of its recordings.

    `push` may be called from any thread; the signal comes on the window's.

    Order is kept and nothing is lost but progress that a later event of the same point supersedes. What is
    too much for one tick waits for the next.

    Signals:
        arrived: Events and notes on files in order (list of Event | FileNote), never empty.
    """

    arrived = Signal(list)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[Event | FileNote] = deque()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def push(self, event: Event | FileNote) -> None:
        """Take in one of them; returns at once."""
        self._waiting.append(event)

    def drain(self) -> None:
        """Hand over everything that waits, now; for the end, when nothing is pushed any more."""
        while self._waiting:
            self._tick()

    def stop(self) -> None:
        """Hand over what waits, then tick no more."""
        self._timer.stop()
        self.drain()

    def _tick(self) -> None:
        batch = self._take()
        if batch:
            self.arrived.emit(batch)

    def _take(self) -> list[Event | FileNote]:
        taken: list[Event | FileNote] = []
        kept = 0
        while self._waiting and len(taken) < TAKEN_PER_TICK and kept < GIVEN_PER_TICK:
            event = self._waiting.popleft()
            taken.append(event)
            kept += not isinstance(event, PointProgress)
            if isinstance(event, PlanStarted | PlanResumed):
                break  # pages draw the fresh session in this tick, what happened in it in the next
        return without_superseded(taken)


def without_superseded(events: Sequence[Event | FileNote]) -> list[Event | FileNote]:
    """The events in order, less progress that a later event of the same point makes worthless."""
    told: set[int] = set()
    kept: list[Event | FileNote] = []
    for event in reversed(events):
        if isinstance(event, PointProgress) and event.index in told:
            continue
        if isinstance(event, PointProgress | PointMeasured | PointFailed):
            told.add(event.index)
        kept.append(event)
    kept.reverse()
    return kept
