"""Which timelines of a session a stop of a story shows, and what its sentence may say of them."""

from collections.abc import Sequence

from flashscope.app.stage.numbers import timeline_numbers
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.profiles.results.model.curves import curve_of_problem
from flashscope.profiles.results.model.timeline_facts import TimelineFacts

MOST = 2  # side by side
NONE = "No timeline of these kernels is in this session."


def timelines_of(
    timelines: Sequence[StageTimeline], kernels: Sequence[str], seqlen: int | None, curve: str = ""
) -> list[StageTimeline]:
    """The newest one of each of these kernels, two at most; of one problem where all have one, and of this N.

    A curve says of which pass and masks. Without one those of a backward pass are taken only where there is
    none of the kernel's forward pass, and those under a window only where there is none without.
    """
    there = [one for one in timelines if seqlen in {None, one.request.problem.seqlen_q}]
    there = [one for one in there if curve in {"", curve_label(one)}]
    there.sort(key=lambda one: _plainness(one.request.problem))
    for one in reversed(there):
        alike = [other for other in there if other.request.problem == one.request.problem]
        if {other.request.kernel for other in alike} >= {*kernels}:
            there = alike
            break
    newest = {one.request.kernel: one for one in there}
    return [newest[kernel] for kernel in kernels if kernel in newest][:MOST]


def curve_label(timeline: StageTimeline) -> str:
    """Head dim, pass and masks of what was recorded, as stops call them."""
    return curve_of_problem(timeline.request.problem).label


def _plainness(problem: Problem) -> tuple[bool, bool]:
    """What a stop shows before others: the forward pass, and there what has no window."""
    return problem.passes == "forward", problem.window is None


def scene_of_timelines(timelines: Sequence[StageTimeline], facts: Sequence[TimelineFacts]) -> Scene:
    """What a sentence may speak of while these are on show."""
    if not timelines:
        return Scene(waiting=NONE)
    last = timelines[-1].request
    return Scene(seqlen=last.problem.seqlen_q, kernel=last.kernel, numbers=timeline_numbers(timelines, facts))


def timeline_scene(stop: Stop, timelines: Sequence[StageTimeline]) -> Scene:
    """The same of a stop, from the timelines of its session."""
    shown = timelines_of(timelines, stop.kernels, stop.seqlen, stop.curve)
    return scene_of_timelines(shown, [TimelineFacts.of(one) for one in shown])
