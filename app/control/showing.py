"""What is on show, as pages know it: a sweep, a saved session or a replay."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Signal

from flashscope.app.control.on_show import OnShow
from flashscope.app.control.playback import Clock, Playback
from flashscope.app.control.selection import Selection
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionMark
from flashscope.profiles.wire.events import (
    Event,
    LogLine,
    MachineFound,
    Readings,
    RequestFailed,
    TelemetryStarted,
)

OF_THIS_MACHINE = Readings, TelemetryStarted
OF_NO_SWEEP = MachineFound, TelemetryStarted, Readings, RequestFailed, LogLine


class Showing(Selection):
    """One session on show; of what is looked at of it, see Selection.

    Args:
        measuring: Whether a sweep runs: nothing is replayed beside it.
        clock: What a replay goes by, in seconds.

    Signals:
        session_changed: Another session is on show (Session or None).
        events_arrived: A batch of events, already applied to the session on show; at most 30 batches a
            second. While a recording is on show what this machine reads and measures is not among them.
        jumped: The session on show, a replay's, is as it was at another moment.
        error_raised: Something went wrong: one sentence, and details (str, str).
        not_opened: A file could not be shown, for the reason that `error_raised` has told (Path).
    """

    session_changed = Signal(object)
    events_arrived = Signal(list)
    jumped = Signal()
    error_raised = Signal(str, str)
    not_opened = Signal(object)

    def __init__(self, measuring: Callable[[], bool], clock: Clock) -> None:
        super().__init__()
        self._shown = OnShow(measuring, clock, self)
        self._shown.session_changed.connect(lambda _session: self.choose_nothing())
        self._shown.session_changed.connect(self.session_changed)
        self._shown.events_arrived.connect(self.events_arrived)
        self._shown.jumped.connect(self.jumped)
        self._shown.error_raised.connect(self.error_raised)
        self._shown.not_opened.connect(self.not_opened)

    @property
    def session(self) -> Session | None:
        """The session on show, None before the first."""
        return self._shown.session

    @property
    def playback(self) -> Playback | None:
        """What plays the session on show, None without a replay."""
        return self._shown.playback

    @property
    def replaying(self) -> bool:
        """Whether a replay runs or is paused."""
        return self.playback is not None

    @property
    def path(self) -> Path | None:
        """File of the session on show, None while it has none."""
        return self._shown.path

    @property
    def reading(self) -> bool:
        """Whether readings of the session on show are still to come from its file."""
        return self._shown.reading

    @property
    def mark(self) -> SessionMark | None:
        """Which session is on show, None before the first: its file may hold another one by now."""
        return self._shown.mark

    @property
    def point_meant(self) -> Point | None:
        """The chosen point while its N is looked at, else the one that is spoken of; None: there is none."""
        points = {} if self.session is None else {one.point.index: one.point for one in self.session.points}
        chosen = None if self.point is None else points.get(self.point)
        if chosen is not None and self.seqlen in {None, chosen.problem.seqlen}:
            return chosen
        spoken_of = None if self.spoken_of is None else points.get(self.spoken_of)
        return spoken_of or chosen

    def open_session(self, path: Path, then: Callable[[], None] | None = None) -> None:
        """Read a saved session and show it as soon as its points are read; its readings follow in batches.

        A file that cannot be opened raises `error_raised` and `not_opened`, and the old one stays.

        Args:
            path: The file.
            then: What to do once it is on show and read whole.
        """
        self._shown.open(path.absolute(), then)  # as lists of files name it

    def replay(self, speed: float) -> None:
        """Play the session on show again from its start, at one of the playback's SPEEDS.

        One that is still being read is played once it is read whole.
        """
        self._shown.replay(speed)

    def _of_what_is_shown(self, events: Sequence[Event], *, sweep_on_show: bool) -> list[Event]:
        """Those of the engine's events that are about what is on show."""
        if self._shown.kind != "live":
            events = [one for one in events if not isinstance(one, OF_THIS_MACHINE)]
        return [one for one in events if sweep_on_show or isinstance(one, OF_NO_SWEEP)]
