"""The steps of a trace: the tiled algorithm, one line of it at a time."""

from dataclasses import dataclass
from typing import Literal, get_args

from flashscope.app.stepper.walk import Tiled

StepPhase = Literal["start", "load", "scores", "maximum", "weights", "output", "write", "merge"]
STEP_PHASES: tuple[StepPhase, ...] = get_args(StepPhase)
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
        last: Whether it is the last tile of its query block; of keys in parts, of its part.
        addition: Which addition merges parts of the query block's keys, in the order of `Trace.merging`; -1:
            the step is none of a merge. All tiles have run then, and `tile` is the query block's last one.
    """

    tile: int
    i: int
    j: int
    phase: StepPhase
    first: bool = False
    last: bool = False
    addition: int = -1

    @property
    def merges(self) -> bool:
        """Whether it adds parts of the keys."""
        return self.phase == "merge"

    @property
    def place(self) -> tuple[bool, int, int, int]:
        """What rises from step to step: merges come last; then the tile, and its phase among all."""
        return self.merges, self.tile, STEP_PHASES.index(self.phase), self.addition

    def reached(self, phase: StepPhase) -> bool:
        """Whether this phase of the tile has been executed."""
        return STEP_PHASES.index(self.phase) >= STEP_PHASES.index(phase)


def snapshots(walk: Tiled, *, alike: bool = False, additions: int = 0) -> tuple[Snapshot, ...]:
    """Every step of a walk in running order, the empty state first.

    flash1 writes O, l and m back after every tile; flash2 writes O and LSE once, after the last key block, or
    of each part of the keys its O, l and m, which so many additions merge once all tiles have run.

    Args:
        walk: The tiles.
        additions: Those that merge the parts of each query block.
        alike: Give every tile a step in which it writes, so that walks of as many tiles have as many steps.
    """
    steps = [Snapshot(-1, *(walk.at(0) if walk.tiles else (0, 0)), "start")]
    for t in range(walk.tiles):
        i, j = walk.at(t)
        first, last = bool(walk.previous[t] < 0), bool(walk.last[t])
        steps += [Snapshot(t, i, j, phase, first, last) for phase in IN_EVERY_TILE]
        if last or alike or walk.order == "flash1":
            steps.append(Snapshot(t, i, j, "write", first, last))
    for i in range(walk.blocks_q if additions else 0):
        t = max(walk.ends(i).values(), default=-1)
        if t >= 0:
            merging = (Snapshot(t, *walk.at(t), "merge", addition=one) for one in range(additions))
            steps += merging
    return tuple(steps)
