"""What a stop of a story may say of stalls: those of a step, and what changed from the one before."""

from collections.abc import Sequence

from flashscope.app.pages.ladder.source_diff import before_of, known_label
from flashscope.app.pages.ladder.stalls.reading import ReadProfile, reading_of
from flashscope.app.pages.ladder.stalls.shelf import Shelved, alike, is_of
from flashscope.app.stage.numbers import stall_numbers
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop

NONE = "No stalls of this kernel are recorded for this problem."


def scene_of_stalls(read: ReadProfile | None) -> Scene:
    """What a sentence may speak of while these are on show."""
    if read is None:
        return Scene(waiting=NONE)
    problem, kernel = read.profile.request.problem, read.profile.request.kernel
    known = [(kernel, read.facts)]
    if read.before is not None:
        known.insert(0, (read.before[0].request.kernel, read.before[1]))
    baseline = known[0][0] if len(known) > 1 else ""
    return Scene(
        seqlen=problem.seqlen_q,
        kernel=kernel,
        baseline=baseline,
        numbers=stall_numbers(known, read.changes),
        passes=problem.passes,
    )


def stalls_scene(stop: Stop, there: Sequence[Shelved]) -> Scene:
    """The same of a stop, from these profiles."""
    label, kernel = known_label(stop.curve), stop.kernels[-1] if stop.kernels else ""
    shown = next((one.profile for one in there if is_of(one.profile, kernel, label)), None)
    if shown is None:
        return scene_of_stalls(None)
    before = next((one.profile for one in there if alike(one.profile, shown, before_of(kernel, label))), None)
    return scene_of_stalls(reading_of(shown, before)())
