"""What is on show: a sweep as it runs, a session from a file, or a recording that is played again."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.opening import Opener
from flashscope.app.control.playback import Clock, Playback
from flashscope.app.words.results.provenance import ProvenanceKind
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.recording import RunRecording
from flashscope.profiles.store import SessionMark
from flashscope.profiles.wire.events import Reading, Readings

NOTHING_TO_REPLAY = "There is no session on show to replay; open one first."
NO_REPLAY_BESIDE = "A sweep is running; wait for its end, or cancel it, to replay a session."


class OnShow(QObject):
    """The session on show, and how it came there: measured, opened or replayed.

    Attributes:
        session: The session, None before the first.
        kind: Whether its figures are measured now, saved or replayed.
        playback: What plays it, None without a replay.

    Signals:
        session_changed, events_arrived, jumped, error_raised, not_opened: As the controller tells them.
        replaying_changed: A replay started or ended (bool).

    Args:
        measuring: Whether a sweep runs: nothing is replayed beside it.
        clock: What a replay goes by, in seconds.
        parent: Its owner.
    """

    session_changed = Signal(object)
    events_arrived = Signal(list)
    jumped = Signal()
    replaying_changed = Signal(bool)
    error_raised = Signal(str, str)
    not_opened = Signal(object)

    def __init__(self, measuring: Callable[[], bool], clock: Clock, parent: QObject) -> None:
        super().__init__(parent)
        self.session: Session | None = None
        self.kind: ProvenanceKind = "live"
        self.playback: Playback | None = None
        self._replayed: ProvenanceKind = "saved"  # what the session was that is replayed
        self._path: Path | None = None
        self._recording: RunRecording | None = None  # what writes the session, or wrote it
        self._measuring, self._clock = measuring, clock
        self._closed = False
        self._asked: Path | None = None  # the file that is being read
        self._then: Callable[[], None] | None = None  # what to do with it once it is read whole
        self._loading: Session | None = None  # the session whose readings are still coming
        self._opener = Opener(self)
        self._opener.opened.connect(self._opened)
        self._opener.read_on.connect(self._read_on)
        self._opener.ended.connect(self._read_whole)
        self._opener.refused.connect(self._refused)

    @property
    def path(self) -> Path | None:
        """File of the session, None while it has none."""
        return self._path if self._recording is None else self._recording.path

    @property
    def reading(self) -> bool:
        """Whether more of the session on show is still to come from its file."""
        return self._loading is not None and self._loading is self.session

    @property
    def mark(self) -> SessionMark | None:
        """Which session is on show, also while it is played again."""
        session = self.session if self.playback is None else self.playback.recorded
        return None if session is None else SessionMark.of(session)

    def show_sweep(self, session: Session, recording: RunRecording | None) -> None:
        """Show a sweep that begins, and is recorded by this."""
        self._show(session, "live", None)
        self._recording = recording

    def open(self, path: Path, then: Callable[[], None] | None) -> None:
        """Read a saved session and show it; then do this, once it is read whole."""
        self._asked, self._then = path, then
        self._opener.read(path)

    def replay(self, speed: float) -> None:
        """Play the session again from its start; one that is still being read, once it is read whole."""
        if self.session is None or self._measuring():
            self.error_raised.emit(NOTHING_TO_REPLAY if self.session is None else NO_REPLAY_BESIDE, "")
            return
        if self.session is self._loading:
            self._then = partial(self.replay, speed)
            return
        self.end_replay()  # of one that is replayed already the whole session is on show again
        self._replayed, path = self.kind, self.path
        playback = self.playback = Playback(self.session, speed, self._clock, self)
        playback.played.connect(self.events_arrived)
        playback.jumped.connect(self.jumped)
        playback.ended.connect(self.end_replay)
        self.replaying_changed.emit(True)
        self._show(playback.session, "replay", path)
        playback.set_playing(True)

    def end_replay(self) -> None:
        """Show the session that is replayed whole again; without a replay nothing."""
        playback = self._let_go()
        if playback is not None:
            self.replaying_changed.emit(False)
            self._show(playback.recorded, self._replayed, self.path)

    def close(self) -> None:
        """Open and play no more."""
        self._closed = True
        self._opener.wait()
        self._let_go()

    def _let_go(self) -> Playback | None:
        """Stop what plays, and return it."""
        playback, self.playback = self.playback, None
        if playback is not None:
            playback.set_playing(False)
            playback.deleteLater()
        return playback

    def _show(self, session: Session, kind: ProvenanceKind, path: Path | None) -> None:
        self.session, self.kind, self._path, self._recording = session, kind, path, None
        self.session_changed.emit(session)

    def _opened(self, path: Path, session: Session) -> None:
        if path != self._asked or self._closed:
            return
        self._asked, self._loading = None, session
        self.end_replay()
        self._show(session, "saved", path)

    def _read_on(self, session: Session, readings: list[Reading]) -> None:
        if session is self._loading and not self._closed:
            session.readings.extend(readings)
            if session is self.session:
                self.events_arrived.emit([Readings(readings=tuple(readings))])

    def _read_whole(self, session: Session) -> None:
        if session is not self._loading or self._closed:
            return
        then, self._loading, self._then = self._then, None, None
        if then is not None and session is self.session:
            then()

    def _refused(self, path: Path, text: str, details: str) -> None:
        if path in {self._asked, self.path}:
            self._asked = self._then = None
            self.error_raised.emit(text, details)
            self.not_opened.emit(path)
