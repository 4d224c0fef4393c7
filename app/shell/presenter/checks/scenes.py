"""What each stop of a story will have on show, worked out from its files without a window."""

from flashscope.app.figures.series import kernels_of, seqlens_of
from flashscope.app.pages.ladder.ladder_recording import common_lengths, read_ladder_recording
from flashscope.app.pages.ladder.source_diff import LABELS, before_of, passes_of
from flashscope.app.pages.ladder.stalls.shelf import there_with
from flashscope.app.pages.ladder.stalls.stops import stalls_scene
from flashscope.app.pages.timeline.stops import timeline_scene
from flashscope.app.pages.traffic.shown import groups, nearest, telling
from flashscope.app.stage.names import STALLS
from flashscope.app.stage.numbers import step_numbers
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.modes import mode_named
from flashscope.app.stepper.presets import PRESETS
from flashscope.app.stepper.recorded import NONE as NO_TRACE
from flashscope.app.stepper.recorded import newest_trace
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import StepView
from flashscope.kernels.cpu.trace import record
from flashscope.profiles.results.model.curves import by_curve, telling_seqlen
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import favoured_baseline

FIRST_LADDER = "d 128, no mask"


def scene_at(stop: Stop, session: Session | None) -> Scene:
    """What a sentence of a stop may speak of.

    Args:
        stop: The stop.
        session: The session on show then, None for none.
    """
    if stop.page == "stepper":
        return _stepper(stop, session)
    if stop.page == "ladder":
        return _ladder(stop, session)
    if session is None:
        return Scene(waiting="No session is on show.")
    if stop.page == "timeline":
        return timeline_scene(stop, session.timelines)
    scene = _traffic if stop.page == "traffic" else _curves
    return scene(stop, session)


def _curves(stop: Stop, session: Session) -> Scene:
    curves = by_curve(rows(session))
    named = {curve.label: members for curve, members in curves.items()}
    members = named.get(stop.curve, next(iter(curves.values()), []))
    there = kernels_of(members)
    shown = [kernel for kernel in there if kernel in stop.kernels] or list(there)
    baseline = stop.baseline if stop.baseline in there else favoured_baseline(there)
    seqlen = stop.seqlen if stop.seqlen in seqlens_of(members) else telling_seqlen(members)
    return Scene(members, seqlen, shown[-1] if shown else "", baseline or "")


def _traffic(stop: Stop, session: Session) -> Scene:
    of_curve = next(iter(groups(rows(session)).values()), {})
    if not of_curve:
        return Scene(waiting="No traffic was counted in this session.")
    seqlen = nearest(sorted(of_curve), stop.seqlen)
    there = of_curve[seqlen]
    shown = [one for one in there if one.row.kernel in stop.kernels] if stop.kernels else telling(there)
    return Scene([one.row for one in shown], seqlen, shown[-1].row.kernel if shown else "")


def _ladder(stop: Stop, session: Session | None) -> Scene:
    if stop.mode == STALLS:
        return stalls_scene(stop, there_with(session))
    label = stop.curve if stop.curve in LABELS else FIRST_LADDER
    passes = passes_of(label)
    members = read_ladder_recording().curves.get(label, ())
    kernel = stop.kernels[-1] if stop.kernels else ""
    before = before_of(kernel, label)
    both = common_lengths(members, [name for name in (before, kernel) if name])
    return Scene(members, stop.seqlen or max(both, default=None), kernel, before, passes=passes)


def _stepper(stop: Stop, session: Session | None) -> Scene:
    if mode_named(stop.mode).apart:
        return Scene()  # a sentence has no numbers of what it walks
    preset = next((one for one in PRESETS if one.key == stop.preset), PRESETS[0])
    if stop.session and not stop.preset and session is not None and session.traces:
        trace = newest_trace(session.traces, stop.kernels, stop.seqlen)
        if trace is None:
            return Scene(waiting=NO_TRACE)
    else:
        trace = record(preset.make("cpu", preset.order))
    stepped = mode_named(stop.mode).steps(Recording.of(trace))
    cursor = Cursor(stepped.timeline)
    cursor = cursor.to(stop.step) if stop.step is not None else cursor.next_tile()
    return Scene(numbers=step_numbers(StepView(stepped, cursor, RowChoice())))
