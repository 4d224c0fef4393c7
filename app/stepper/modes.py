"""The modes of the Stepper: each lays out the steps of a trace, and shows them, in a way of its own."""

from collections.abc import Callable
from dataclasses import dataclass

from flashscope.app.stepper.lock_step import LockStep
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace


@dataclass(frozen=True)
class Mode:
    """One way to walk through a trace; what draws it stands under its key in `app.pages.stepper.modes`.

    Attributes:
        key: Its name in code, in settings and in stories.
        title: Its name on screen.
        idea: What it shows, in one sentence.
        steps: Lays out the steps of a recording.
        idle: The controls of the page that mean nothing in it, by their names there; they are put away.
        secret: Whether what comes next is not to be seen beforehand: the scrubber marks no events.
        apart: Whether it walks a recording of its own, of the problem of the trace on show.
    """

    key: str
    title: str
    idea: str
    steps: Callable[[Recording], SteppedTrace] = SteppedTrace.of
    idle: frozenset[str] = frozenset()
    secret: bool = False
    apart: bool = False


LANES, BROKEN, PREDICT, BACKWARD = "lanes", "broken", "predict", "backward"
MODES: tuple[Mode, ...] = (
    Mode("blocks", "Blocks", "One trace, tile by tile: scores, weights, the state of a row, and the memory"),
    Mode(
        LANES,
        "Lanes",
        "standard, flash1 and flash2 in lock-step: what each holds on the chip, and the bytes that it moves",
        LockStep.of,
        frozenset({"order", "notation"}),
    ),
    Mode(
        BROKEN,
        "Broken",
        "Broken on purpose: a fault beside the right trace, where it leaves the truth, by how much",
        idle=frozenset({"notation", "breaks"}),
    ),
    Mode(
        PREDICT,
        "Predict",
        "What comes next is hidden and asked: answer with 1, 2 or 3, then see the numbers",
        idle=frozenset({"notation", "breaks"}),
        secret=True,
    ),
    Mode(
        BACKWARD,
        "Backward",
        "The backward pass of the problem on show: P, dP and dS of each tile, and dQ, dK and dV as they grow",
        idle=frozenset({"order", "notation", "scores", "head", "transport"}),
        apart=True,
    ),
)


def mode_named(key: str) -> Mode:
    """The mode of a key; the first one where there is none, as an old settings file may name."""
    return next((mode for mode in MODES if mode.key == key), MODES[0])
