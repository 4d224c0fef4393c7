"""What a stop of a story would show, from the file that it names, without showing it."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.pages.ladder.ladder_recording import LadderRecording, read_ladder_recording
from flashscope.app.pages.ladder.stalls.shelf import there_with
from flashscope.app.pages.ladder.stalls.stops import stalls_scene
from flashscope.app.pages.timeline.stops import timeline_scene
from flashscope.app.shell.stop_scenes import (
    NO_PRESET,
    PointsOfSession,
    ladder_scene,
    scene_of_points,
    step_scene,
    walked_preset,
    walked_trace,
)
from flashscope.app.stage.names import STALLS
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.stepper.modes import mode_named
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.profiles.store import SessionFileError, loading
from flashscope.profiles.wire.events import Event, Readings

SceneSource: TypeAlias = PointsOfSession | SteppedTrace | LadderRecording | Scene | str
READING = "Being read …"
NOTHING = "Nothing is on show, and the stop names no session."


class Scenes(QObject):
    """Reads in the background what stops name, each file once.

    Signals:
        changed: Something has been read, or something else is on show.

    Args:
        controller: Has the session on show, which stops show that name none.
        parent: Its owner.
    """

    changed = Signal()

    def __init__(self, controller: Controller, parent: QObject) -> None:
        super().__init__(parent)
        self._controller = controller
        self._found: dict[object, SceneSource | None] = {}  # None: it is being read
        self._on_show: PointsOfSession | None = None
        self._chores = Chores(self)
        controller.session_changed.connect(lambda _session: self._forget())
        controller.events_arrived.connect(self._take_events)

    def scene(self, stop: Stop, session: Path | None) -> Scene:
        """What a stop shows; as long as its file is being read, or where it cannot be, words in its place.

        Args:
            stop: The stop.
            session: The file of its session, None: what is on show.
        """
        if stop.page == "stepper":
            return self._stepped(stop, session)
        if stop.page == "ladder" and stop.mode == STALLS:
            return self._stalled(stop, session or self._controller.path)
        if stop.page == "ladder":
            known = self._look("ladder", _read_ladder)
            return ladder_scene(stop, known) if isinstance(known, LadderRecording) else _waiting(known)
        if stop.page == "timeline":
            return self._timed(stop, session or self._controller.path)
        points = self._points(session)
        if not isinstance(points, PointsOfSession):
            return _waiting(points)
        return scene_of_points(stop, points, self._controller.seqlen)

    def wait(self) -> None:
        """Return when nothing is being read; to be called before this object goes."""
        self._chores.wait()

    def _timed(self, stop: Stop, session: Path | None) -> Scene:
        if session is None:
            return Scene(waiting=NOTHING)
        key = "timeline", session, _changed(session), stop.kernels, stop.seqlen, stop.curve
        found = self._look(key, partial(_read_timelines, session, stop))
        return found if isinstance(found, Scene) else _waiting(found)

    def _stalled(self, stop: Stop, session: Path | None) -> Scene:
        changed = _changed(session) if session is not None else None
        key = "stalls", session, changed, stop.kernels, stop.curve
        found = self._look(key, partial(_read_stalls, session, stop))
        return found if isinstance(found, Scene) else _waiting(found)

    def _stepped(self, stop: Stop, session: Path | None) -> Scene:
        if mode_named(stop.mode).apart:
            return Scene()  # a sentence has no numbers of what it walks
        if stop.preset:
            walked = self._look(("stepper", stop.preset, stop.mode), partial(walked_preset, stop))
        elif session is not None:
            key = "trace", session, _changed(session), stop.mode, stop.kernels, stop.seqlen
            walked = self._look(key, partial(_walk_recorded, session, stop))
        else:
            return Scene(waiting=NO_PRESET)
        return step_scene(stop, walked) if isinstance(walked, SteppedTrace) else _waiting(walked)

    def _points(self, session: Path | None) -> SceneSource | None:
        if session is not None:
            return self._look((session, _changed(session)), partial(_read_points, session))
        if self._on_show is None and self._controller.session is not None:
            self._on_show = PointsOfSession.of(self._controller.session)
        return NOTHING if self._on_show is None else self._on_show

    def _look(self, key: object, read: Callable[[], SceneSource]) -> SceneSource | None:
        """What was read, None until then."""
        if key not in self._found:
            self._found[key] = None
            self._chores.do(read, partial(self._take, key))
        return self._found[key]

    def _take(self, key: object, found: SceneSource) -> None:
        self._found[key] = found
        self.changed.emit()

    def _take_events(self, events: Sequence[Event]) -> None:
        """Another point has ended of what is on show; readings of the device change no figure."""
        if self._on_show is not None and not all(isinstance(event, Readings) for event in events):
            self._forget()

    def _forget(self) -> None:
        self._on_show = None
        self.changed.emit()


def _waiting(found: SceneSource | None) -> Scene:
    return Scene(waiting=found if isinstance(found, str) else READING)


def _read_points(path: Path) -> SceneSource:
    try:
        with loading(path) as (session, _readings):
            return PointsOfSession.of(session)
    except (SessionFileError, OSError) as error:
        return str(error)


def _changed(session: Path) -> int:
    """When a file was last written; 0 where that cannot be read."""
    try:
        return session.stat().st_mtime_ns
    except (OSError, ValueError):
        return 0


def _read_timelines(path: Path, stop: Stop) -> SceneSource:
    try:
        with loading(path) as (session, _readings):
            return timeline_scene(stop, session.timelines)
    except (SessionFileError, OSError) as error:
        return str(error)


def _read_stalls(path: Path | None, stop: Stop) -> SceneSource:
    """Those of the session, and those that come with the program."""
    if path is None:
        return stalls_scene(stop, there_with(None))
    try:
        with loading(path) as (session, _readings):
            return stalls_scene(stop, there_with(session))
    except (SessionFileError, OSError) as error:
        return str(error)


def _walk_recorded(path: Path, stop: Stop) -> SceneSource:
    try:
        with loading(path) as (session, _readings):
            return walked_trace(stop, session.traces)
    except (SessionFileError, OSError) as error:
        return str(error)


def _read_ladder() -> SceneSource:
    try:
        return read_ladder_recording()
    except (SessionFileError, OSError) as error:
        return str(error)
