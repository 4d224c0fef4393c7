"""The steps of a trace: the tiled algorithm, one line of it at a time."""

from dataclasses import dataclass
from typing import Literal

from flashscope.app.stepper.recording import Recording

StepPhase = Literal["start", "load", "scores", "maximum", "weights", "output", "write"]
STEP_PHASES: tuple[StepPhase, ...] = ("start", "load", "scores", "maximum", "weights", "output", "write")
IN_EVERY_TILE: tuple[StepPhase, ...] = STEP_PHASES[1:6]


@dataclass(frozen=True)
class Snapshot:
    """One step: the state after one line of the algorithm.

    Attributes:
        tile: Index of the tile in running order, -1 before the first.
        i: Its query block.
        j: Its key block.
        phase: The line of the algorithm that has just been executed.
        first: Whether it is the first tile of its query block.
        last: Whether it is the last tile of its query block.
    """

    tile: int
    i: int
    j: int
    phase: StepPhase
    first: bool = False
    last: bool = False

    @property
    def place(self) -> tuple[int, int]:
        """What rises from step to step: the tile, and the place of its phase among all."""
        return self.tile, STEP_PHASES.index(self.phase)

    def reached(self, phase: StepPhase) -> bool:
        """Whether this phase of the tile has been executed."""
        return STEP_PHASES.index(self.phase) >= STEP_PHASES.index(phase)


def snapshots(recording: Recording) -> tuple[Snapshot, ...]:
    """Every step of a recording in running order, the empty state first.

    flash1 writes O, l and m back after every tile; flash2 writes O and LSE once, after the last key block.
    """
    steps = [Snapshot(-1, *(recording.at(0) if recording.tiles else (0, 0)), "start")]
    final = set(_last_tiles(recording))
    for t in range(recording.tiles):
        i, j = recording.at(t)
        first, last = bool(recording.previous[t] < 0), t in final
        steps += [Snapshot(t, i, j, phase, first, last) for phase in IN_EVERY_TILE]
        if last or recording.order == "flash1":
            steps.append(Snapshot(t, i, j, "write", first, last))
    return tuple(steps)


def _last_tiles(recording: Recording) -> list[int]:
    return [int(ran.max()) for ran in recording.order_of_tile if ran.max() >= 0]
