"""The steps of a backward pass: one product or one line of a tile at a time."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from flashscope.app.stepper.backward.recording import SUMS, BackwardRecording
from flashscope.app.stepper.cursor import CursorOf, StepsOf

BackwardPhase = Literal["start", "load", "weights", "dp", "ds", "dv", "dk", "dq", "write"]
PHASES: tuple[BackwardPhase, ...] = get_args(BackwardPhase)
OF_A_TILE: tuple[BackwardPhase, ...] = PHASES[1:8]


class BackwardStep(NamedTuple):
    """One step: the state after one line of the algorithm.

    Attributes:
        tile: Index of the tile in the order in which they are told, -1 before the first.
        phase: The line that has just been executed.
    """

    tile: int
    phase: BackwardPhase

    @property
    def merges(self) -> bool:
        """No step adds parts of keys."""
        return False

    @property
    def place(self) -> tuple[int, int]:
        """What rises from step to step."""
        return self.tile, PHASES.index(self.phase)

    def reached(self, phase: BackwardPhase) -> bool:
        """Whether this phase of the tile has been executed."""
        return PHASES.index(self.phase) >= PHASES.index(phase)


@dataclass(frozen=True, eq=False)
class BackwardStory:
    """A recording and its steps."""

    recording: BackwardRecording
    timeline: StepsOf[BackwardStep]

    @classmethod
    def of(cls, recording: BackwardRecording) -> "BackwardStory":
        """Lay out the steps: of each tile those that it has, the last of its keys or queries with a write."""
        steps = [BackwardStep(-1, "start")]
        main, apart = (_phases(recording, t) for t in (0, recording.tiles - 1))
        whole = {False: recording.finishes["dv"], True: recording.finishes["dq"]}
        for t in range(recording.tiles):
            of_dq = recording.apart(t)
            steps += [BackwardStep(t, phase) for phase in (apart if of_dq else main)]
            if t in whole[of_dq]:
                steps.append(BackwardStep(t, "write"))
        return cls(recording, StepsOf(tuple(steps)))

    @property
    def start(self) -> CursorOf[BackwardStep]:
        """Before the first tile."""
        return CursorOf(self.timeline)


def _phases(recording: BackwardRecording, t: int) -> tuple[BackwardPhase, ...]:
    """What a tile does before it is written: the same of all of its launch."""
    absent = {name for name in SUMS if not recording.has(name, t)}
    return tuple(phase for phase in OF_A_TILE if phase not in absent)
