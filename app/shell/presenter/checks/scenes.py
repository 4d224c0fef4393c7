"""What each stop of a story will have on show, worked out from its files without a window."""

from flashscope.app.pages.ladder.ladder_recording import read_ladder_recording
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
from flashscope.profiles.results.model.session import Session


def scene_at(stop: Stop, session: Session | None) -> Scene:
    """What a sentence of a stop may speak of.

    Args:
        stop: The stop.
        session: The session on show then, None for none.
    """
    if stop.page == "stepper":
        return _stepped(stop, session)
    if stop.page == "ladder":
        return _ladder(stop, session)
    if session is None:
        return Scene(waiting="No session is on show.")
    if stop.page == "timeline":
        return timeline_scene(stop, session.timelines)
    return scene_of_points(stop, PointsOfSession.of(session), None)


def _ladder(stop: Stop, session: Session | None) -> Scene:
    if stop.mode == STALLS:
        return stalls_scene(stop, there_with(session))
    return ladder_scene(stop, read_ladder_recording())


def _stepped(stop: Stop, session: Session | None) -> Scene:
    if mode_named(stop.mode).apart:
        return Scene()  # a sentence has no numbers of what it walks
    if stop.preset:
        walked = walked_preset(stop)
    elif stop.session and session is not None:
        walked = walked_trace(stop, session.traces)
    else:
        return Scene(waiting=NO_PRESET)
    return Scene(waiting=walked) if isinstance(walked, str) else step_scene(stop, walked)
