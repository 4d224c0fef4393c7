"""A recorded session played again: as fast as wanted, paused, or at any of its moments."""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.results.model.session import Session

TICK_MS = 33
SPEEDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
Clock = Callable[[], float]


class Playback(QObject):
    """A clock that moves over a recording, and the session as it was then. It is made paused, at the start.

    Attributes:
        recorded: The whole session.
        events: Its events.
        session: What is on show: the recorded session as it was at `at_ns`, always the same object.
        at_ns: The moment on show.
        speed: Recorded seconds that pass in one second.

    Signals:
        played: It went on: these events came, and are applied to `session` (list of Event, never empty).
        jumped: `session` is as it was at another moment, before or after.
        changed: It is at another moment, plays, pauses, or has another speed.
        ended: It has played to its end.

    Args:
        recorded: What is played; has ended.
        speed: One of SPEEDS.
        clock: Tells seconds, from anywhere.
        parent: Its owner.
    """

    played = Signal(list)
    jumped = Signal()
    changed = Signal()
    ended = Signal()

    def __init__(
        self, recorded: Session, speed: float, clock: Clock = time.monotonic, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.recorded, self.events = recorded, RecordedEvents(recorded)
        self.at_ns = self.events.start_ns
        self.session = self.events.at(self.at_ns)
        self.speed = _possible(speed)
        self._clock, self._since = clock, 0.0
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self.tick)

    @property
    def playing(self) -> bool:
        """Whether it plays; it is paused otherwise."""
        return self._timer.isActive()

    @property
    def at_end(self) -> bool:
        """Whether the session is whole."""
        return self.at_ns == self.events.end_ns

    def set_playing(self, playing: bool) -> None:
        """Play from here, from the start when at the end; or pause."""
        if playing == self.playing:
            return
        if playing:
            if self.at_end:
                self.seek(self.events.start_ns)
            self._since = self._clock()
            self._timer.start()
        else:
            self._timer.stop()
        self.changed.emit()

    def set_speed(self, speed: float) -> None:
        """Play so fast from here on.

        Raises:
            ValueError: It is none of SPEEDS.
        """
        speed = _possible(speed)
        if self.playing:
            self.tick()
        self.speed = speed
        self.changed.emit()

    def change_speed(self, direction: int) -> None:
        """Take the next speed (1) or the one before (-1), if there is one."""
        place = SPEEDS.index(self.speed) + direction
        if 0 <= place < len(SPEEDS):
            self.set_speed(SPEEDS[place])

    def seek(self, t_ns: int) -> None:
        """Show the session as it was at this moment, or at the recorded one that is nearest to it."""
        self.at_ns = min(max(t_ns, self.events.start_ns), self.events.end_ns)
        self._since = self._clock()
        vars(self.session).update(vars(self.events.at(self.at_ns)))
        self.jumped.emit()
        self.changed.emit()

    def step(self, direction: int) -> None:
        """Go to where the next point ends (1), or the one before (-1), or else to the end or the start."""
        events, at = self.events, self.at_ns
        if direction > 0:
            self.seek(next((t for t in events.ends if t > at), events.end_ns))
        else:
            self.seek(next((t for t in reversed(events.ends) if t < at), events.start_ns))

    def tick(self) -> None:
        """Go on by the time that has passed since the last tick."""
        now = self._clock()
        before, passed = self.at_ns, round((now - self._since) * self.speed * 1e9)
        self._since, self.at_ns = now, min(before + passed, self.events.end_ns)
        events = self.events.between(before, self.at_ns)
        for event in events:
            self.session.apply(event)
        if events:
            self.played.emit(events)
        self.changed.emit()
        if self.at_end:
            self.set_playing(False)
            self.ended.emit()


def _possible(speed: float) -> float:
    if speed not in SPEEDS:
        known = ", ".join(f"{one:g}" for one in SPEEDS)
        raise ValueError(f"a replay has one of the speeds {known}, not {speed}")
    return speed
