"""Timelines: asked of the engine one at a time, and kept in the session on show."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.edits import Edits, FileEdit
from flashscope.app.control.on_show import OnShow
from flashscope.app.control.steps import check_changeable
from flashscope.kernels.workload.timeline import StageTimeline, TimelineRequest
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.store.keeping import drop_timeline, keep_timeline
from flashscope.profiles.wire.events import Event, RequestFailed, TimelineProgress, TimelineReady


class Timelines(QObject):
    """Asks for timelines in turn, and tells what becomes of them.

    Attributes:
        asked: What is being recorded now, None: nothing is.

    Signals:
        progressed: Of what is recorded so many rounds are done, of so many (int, int).
        ready: One was recorded (StageTimeline).
        failed: One could not be, for this reason, with details (str, str); what was to follow is dropped.
        kept: The session on show has other timelines now.
        changed: Something else is being recorded, or nothing any more.
        tile_asked: The Stepper is to show this tile (i, j) of a trace (TraceRequest, tuple of int).
        stage_asked: The source of a kernel is to be shown for the problems of a curve with these lines marked
            (str, str, tuple of str).

    Args:
        engine: Gives the engine that records.
        shown: What is on show; also its owner.
        edits: What changes files.
    """

    progressed = Signal(int, int)
    ready = Signal(object)
    failed = Signal(str, str)
    kept = Signal()
    changed = Signal()
    tile_asked = Signal(object, object)
    stage_asked = Signal(str, str, object)

    def __init__(self, engine: Callable[[], Engine], shown: OnShow, edits: Edits) -> None:
        super().__init__(shown)
        self._shown, self._edits = shown, edits
        edits.touched.connect(self._take_steps)
        self.asked: TimelineRequest | None = None
        self._engine = engine
        self._waiting: deque[TimelineRequest] = deque()
        self._given_up = False

    def ask(self, requests: Sequence[TimelineRequest]) -> None:
        """Record these, one after the other, after what is asked for already."""
        self._waiting.extend(requests)
        if self.asked is None:
            self._next()

    def give_up(self) -> None:
        """Record no more; what is in flight ends after its round."""
        self._waiting.clear()
        if self.asked is not None:
            self._given_up = True
            self._engine().give_up_timeline()

    @property
    def why_not_kept(self) -> str:
        """Why the session on show takes no timeline, in one sentence; empty: it does."""
        if self._shown.session is None or self._shown.path is None:
            return "No session with a file is on show: open one, or run a sweep."
        if self._shown.path.parent == BUNDLED:
            return "A recording that comes with Flashscope stays as it is: duplicate it in the Library."
        return ""

    def keep(self, timelines: Sequence[StageTimeline]) -> None:
        """Write these into the session on show; it can be undone."""
        session, path = self._shown.session, self._shown.path
        if session is not None and path is not None and not self.why_not_kept:
            steps = [TimelineKept(path, timeline, session.id) for timeline in timelines]
            self._edits.do(f"Kept {len(steps)} timeline{'s' * (len(steps) != 1)} in {path.name}", steps)

    def _take_steps(self, steps: Sequence[FileEdit]) -> None:
        """Let the session on show have what its file has."""
        mine = [one for one in steps if isinstance(one, TimelineKept) and one.path == self._shown.path]
        playback, session = self._shown.playback, self._shown.session
        sessions = [session, playback.recorded] if playback else [session]
        for step in mine:
            for one in (each for each in sessions if each is not None):
                others = [timeline for timeline in one.timelines if timeline is not step.timeline]
                one.timelines[:] = [*others, step.timeline] if step.number else others
        if mine:
            self.kept.emit()

    def take(self, event: Event) -> bool:
        """Take in what an engine says; returns whether it is about timelines, and so of no session."""
        match event:
            case TimelineProgress(done=done, total=total):
                self.progressed.emit(done, total)
            case TimelineReady(timeline=timeline):
                self.ready.emit(timeline)
                self._next()
            case RequestFailed(request="timeline"):
                self._waiting.clear()
                if not self._given_up:
                    self.failed.emit(event.reason, event.detail)
                self._next()
            case _:
                return False
        return True

    def _next(self) -> None:
        self._given_up = False
        self.asked = self._waiting.popleft() if self._waiting else None
        if self.asked is not None:
            self._engine().timeline(self.asked)
        self.changed.emit()


@dataclass
class TimelineKept:
    """A timeline in a session's file.

    Attributes:
        path: The file.
        timeline: What is kept.
        meant: Id of the session that is meant.
        number: The timeline's in the file, 0 while it is not there.
    """

    path: Path
    timeline: StageTimeline
    meant: str
    number: int = 0

    def forth(self) -> None:
        """Write it into the file."""
        check_changeable(self.path)
        self.number = keep_timeline(self.path, self.timeline, self.meant)

    def back(self) -> None:
        """Take it out of the file again."""
        drop_timeline(self.path, self.number, self.meant)
        self.number = 0
