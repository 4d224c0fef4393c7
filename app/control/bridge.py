"""From the engine's thread to the window: many events in, one signal at most 30 times a second out."""

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from profiles.wire.events import Event, PlanResumed, PlanStarted, PointFailed, PointMeasured, PointProgress

TICK_MS = 33
TAKEN_PER_TICK = 4000  # scanning this many takes about a millisecond
GIVEN_PER_TICK = 500  # what listeners get at once


class Bridge(QObject):
    """The sink of one engine. `push` may be called from any thread; the signal comes on the window's.

    Order is kept and nothing is lost but progress that a later event of the same point supersedes. What is
    too much for one tick waits for the next.

    Signals:
        arrived: Events in order (list of Event), never empty.
    """

    arrived = Signal(list)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[Event] = deque()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def push(self, event: Event) -> None:
        """Take in one event; returns at once."""
        self._waiting.append(event)

    def drain(self) -> None:
        """Hand over everything that waits, now; for the end, when no engine pushes any more."""
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

    def _take(self) -> list[Event]:
        taken: list[Event] = []
        kept = 0
        while self._waiting and len(taken) < TAKEN_PER_TICK and kept < GIVEN_PER_TICK:
            event = self._waiting.popleft()
            taken.append(event)
            kept += not isinstance(event, PointProgress)
            if isinstance(event, PlanStarted | PlanResumed):
                break  # pages draw the fresh session in this tick, what happened in it in the next
        return without_superseded(taken)


def without_superseded(events: Sequence[Event]) -> list[Event]:
    """The events in order, less progress that a later event of the same point makes worthless."""
    told: set[int] = set()
    kept: list[Event] = []
    for event in reversed(events):
        if isinstance(event, PointProgress) and event.index in told:
            continue
        if isinstance(event, PointProgress | PointMeasured | PointFailed):
            told.add(event.index)
        kept.append(event)
    kept.reverse()
    return kept
