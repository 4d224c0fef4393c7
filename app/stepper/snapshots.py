"""The steps of a trace: the tiled algorithm, one line of it at a time."""

from dataclasses import dataclass
from typing import Literal

from flashscope.app.stepper.walk import Tiled

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


def snapshots(walk: Tiled, *, alike: bool = False) -> tuple[Snapshot, ...]:
    """Every step of a walk in running order, the empty state first.

    flash1 writes O, l and m back after every tile; flash2 writes O and LSE once, after the last key block.

    Args:
        walk: The tiles.
        alike: Give every tile a step in which it writes, so that walks of as many tiles have as many steps.
    """
    steps = [Snapshot(-1, *(walk.at(0) if walk.tiles else (0, 0)), "start")]
    for t in range(walk.tiles):
        i, j = walk.at(t)
        first, last = bool(walk.previous[t] < 0), bool(walk.last[t])
        steps += [Snapshot(t, i, j, phase, first, last) for phase in IN_EVERY_TILE]
        if last or alike or walk.order == "flash1":
            steps.append(Snapshot(t, i, j, "write", first, last))
    return tuple(steps)
