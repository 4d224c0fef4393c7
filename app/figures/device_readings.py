"""What one device's telemetry draws: its readings, and what ran on it when."""

from collections.abc import Iterator, Sequence

from flashscope.app.figures.ring import HELD_S, ReadingRing
from flashscope.app.figures.spans import Span, spans_of
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Reading

PIECE = 2000  # readings recorded in a step: about two milliseconds of work


class DeviceReadings:
    """The readings of one device of a session, or live ones while there is none, in a ring.

    Args:
        device: Its number among those of the session.

    Attributes:
        ring: The readings.
        device: Whose of the session's devices they are.
        session: Whose they are.
    """

    def __init__(self, device: int) -> None:
        self.ring = ReadingRing()
        self.session: Session | None = None
        self.device = device
        self._taken = 0  # readings of the session that are in the ring
        self._ended: tuple[Session, list[Span]] | None = None  # what ran in the session, if it has ended

    def show_session(self, session: Session | None) -> None:
        """Start over with what this session recorded; None: with the readings to come."""
        self.session, self._taken = session, 0
        self.ring.clear(session.t0_ns if session else None)

    def take(self, readings: Sequence[Reading]) -> None:
        """Record a piece of what is new: of the session, or these live readings when there is none."""
        if self.session is None:
            self.ring.extend(readings)
        else:
            next(self.catch_up(), None)

    def rewind(self) -> None:
        """The session has more or fewer of its readings than before."""
        held = len(self._lane)
        if held < self._taken:
            self._taken = self.ring.shorten(held)

    def catch_up(self) -> Iterator[None]:
        """Record what the session has more, a piece a step."""
        while self._taken < len(self._lane):
            piece = self._lane[self._taken : self._taken + PIECE]
            self.ring.extend(piece)
            self._taken += len(piece)
            yield

    def spans(self) -> list[Span]:
        """What ran on the device when; of a session that has ended it is worked out once."""
        session = self.session
        if session is None or session.ended_ns is None:
            self._ended = None
            return [] if session is None else self._spans_of(session)
        if self._ended is None or self._ended[0] is not session:
            self._ended = session, self._spans_of(session)
        return self._ended[1]

    def newest(self) -> float:
        """When the newest reading of any device was taken, in s: one that is lost has no more."""
        times, session = self.ring.times(), self.session
        own = float(times[-1]) if times.size else 0.0
        if session is None:
            return own
        lanes = {0: session.readings, **session.beside}
        others = [lane[-1].t_ns for device, lane in lanes.items() if lane and device != self.device]
        return max([own, *((t_ns - session.t0_ns) / 1e9 for t_ns in others)])

    @property
    def silent(self) -> bool:
        """Whether its newest reading counts no more, as other devices have read on since."""
        times = self.ring.times()
        return bool(times.size) and self.newest() - float(times[-1]) > HELD_S

    def _spans_of(self, session: Session) -> list[Span]:
        return [span for span in spans_of(session) if span.device == self.device]

    @property
    def _lane(self) -> Sequence[Reading]:
        """The readings of the session; none where that has none of the device."""
        if self.session is None:
            return ()
        return self.session.readings if not self.device else self.session.beside.get(self.device, ())
