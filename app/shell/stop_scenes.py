"""What a stop of a story has on show, by what was read of its file: for the editor, and to check a story."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flashscope.app.figures.series import kernels_of, seqlens_of
from flashscope.app.pages.ladder.ladder_recording import LadderRecording, common_lengths
from flashscope.app.pages.ladder.page import FIRST
from flashscope.app.pages.ladder.source_diff import before_of, known_label, passes_of
from flashscope.app.pages.roofline.stops import roofline_scene
from flashscope.app.pages.traffic.shown import groups, nearest, staged
from flashscope.app.stage.names import MEMORIES
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
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.results.model.curves import Curve, by_curve, telling_seqlen
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import favoured_baseline

NO_PRESET = "The Stepper keeps what it shows; name a preset to have its figures."
NO_TRAFFIC = "No DRAM traffic was counted in this session."


class PointsOfSession(NamedTuple):
    """What was measured.

    Attributes:
        curves: The points of each curve.
        planned: The kernels in the order of the plan, by which the baseline is chosen.
    """

    curves: Mapping[Curve, Sequence[PointRow]]
    planned: tuple[str, ...]

    @classmethod
    def of(cls, session: Session) -> "PointsOfSession":
        """Those of a session as it stands now."""
        return cls(by_curve(rows(session)), session.plan.kernels)


def scene_of_points(stop: Stop, points: PointsOfSession, seqlen: int | None) -> Scene:
    """What a page of a session shows of a stop.

    Args:
        stop: The stop.
        points: The session's.
        seqlen: What the user looks at, for a page whose stops name no N; None: nobody knows.
    """
    curves, planned = points
    first: Sequence[PointRow] = next(iter(curves.values()), ())
    if stop.page in {"profile", "results"}:
        named = [members for curve, members in curves.items() if curve.label == stop.curve]
        return _curve_scene(stop, named[-1] if named else first, planned)
    if stop.page == "traffic":
        return _traffic_scene(stop, [row for members in curves.values() for row in members])
    if stop.page == "roofline" and stop.mode != MEMORIES:
        return roofline_scene(stop, first, planned)
    return Scene(first, seqlen)


def _curve_scene(stop: Stop, members: Sequence[PointRow], planned: tuple[str, ...]) -> Scene:
    kernels = kernels_of(members)
    shown = [name for name in kernels if name in stop.kernels] or kernels
    baseline = stop.baseline if stop.baseline in kernels else favoured_baseline(planned)
    measured = stop.seqlen in seqlens_of(members)
    seqlen = stop.seqlen if measured else telling_seqlen(members)
    return Scene(members, seqlen, shown[-1] if shown else "", baseline or "")


def _traffic_scene(stop: Stop, members: Sequence[PointRow]) -> Scene:
    there = next(iter(groups(members).values()), {})
    if not there:
        return Scene(waiting=NO_TRAFFIC)
    seqlen = nearest(sorted(there), stop.seqlen)
    shown = [one.row for one in staged(there[seqlen], stop.kernels)]
    return Scene(shown, seqlen, shown[-1].kernel if shown else "")


def ladder_scene(stop: Stop, known: LadderRecording) -> Scene:
    """What a step of the ladder gained, by the bundled recording."""
    label = known_label(stop.curve)
    passes, kernel = passes_of(label), stop.kernels[-1] if stop.kernels else FIRST
    before, members = before_of(kernel, label), known.curves.get(label, ())
    both = common_lengths(members, [name for name in (before, kernel) if name])
    return Scene(members, stop.seqlen or max(both, default=None), kernel, before, passes=passes)


def walked_preset(stop: Stop) -> SteppedTrace | str:
    """What the Stepper walks of a preset, or why it does not."""
    made = next((one for one in PRESETS if one.key == stop.preset), None)
    if made is None:
        return f"There is no preset {stop.preset!r}."
    return _walked(stop, record(made.make("cpu", made.order)))


def walked_trace(stop: Stop, traces: Sequence[Trace]) -> SteppedTrace | str:
    """What the Stepper walks of the traces of a session, or why it does not."""
    if not traces:
        return NO_PRESET
    trace = newest_trace(traces, stop.kernels, stop.seqlen)
    return NO_TRACE if trace is None else _walked(stop, trace)


def _walked(stop: Stop, trace: Trace) -> SteppedTrace:
    return mode_named(stop.mode).steps(Recording.of(trace))


def step_scene(stop: Stop, walked: SteppedTrace) -> Scene:
    """The numbers of the step that a stop names, or of the first tile."""
    start = Cursor(walked.timeline)
    cursor = start.next_tile() if stop.step is None else start.to(stop.step)
    return Scene(numbers=step_numbers(StepView(walked, cursor, RowChoice())))
