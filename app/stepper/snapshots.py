"""The steps of a trace: the tiled algorithm, one line of it at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args, overload

import numpy as np

from flashscope.app.stepper.walk import Ints, Tiled

StepPhase = Literal["start", "load", "scores", "maximum", "weights", "output", "write", "merge"]
STEP_PHASES: tuple[StepPhase, ...] = get_args(StepPhase)
IN_EVERY_TILE: tuple[StepPhase, ...] = STEP_PHASES[1:6]
WRITE = STEP_PHASES[6]


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


@dataclass(frozen=True, eq=False)
class TraceSteps(Sequence[Snapshot]):
    """Every step of a walk in running order, the empty state first.

    flash1 writes O, l and m back after every tile; flash2 writes O and LSE once, after the last key block, or
    of each part of the keys its O, l and m, which so many additions merge once all tiles have run. Each step
    is made when it is looked at: a long trace has tens of thousands.

    Attributes:
        walk: The tiles.
        additions: Those that merge the parts of each query block.
        alike: Give every tile a step in which it writes, so that walks of as many tiles have as many steps.
    """

    walk: Tiled
    alike: bool = False
    additions: int = 0

    @cached_property
    def ends(self) -> Ints:
        """The last step of each tile, rising."""
        writes = self.walk.last | (self.alike or self.walk.order == "flash1")
        return np.cumsum(len(IN_EVERY_TILE) + writes)

    @cached_property
    def loads(self) -> Ints:
        """The first step of each tile, rising."""
        return np.append(0, self.ends[:-1])[: self.walk.tiles] + 1

    @cached_property
    def merged(self) -> Ints:
        """The last tile of each query block that is merged, in the order of the blocks."""
        last = np.full(self.walk.blocks_q if self.additions else 0, -1)
        if self.additions:
            np.maximum.at(last, self.walk.tile[:, 0], np.arange(self.walk.tiles))
        return last[last >= 0]

    @property
    def before_merges(self) -> int:
        """How many steps come before the first of a merge."""
        return 1 + (int(self.ends[-1]) if len(self.ends) else 0)

    def __len__(self) -> int:
        return self.before_merges + len(self.merged) * self.additions

    @overload
    def __getitem__(self, at: int) -> Snapshot: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Snapshot]: ...

    def __getitem__(self, at: int | slice) -> Snapshot | Sequence[Snapshot]:
        if isinstance(at, slice):
            return tuple(self[k] for k in range(len(self))[at])
        at, walk = range(len(self))[at], self.walk
        if not at:
            return Snapshot(-1, *(walk.at(0) if walk.tiles else (0, 0)), "start")
        if at >= self.before_merges:
            block, addition = divmod(at - self.before_merges, self.additions)
            t = int(self.merged[block])
            return Snapshot(t, *walk.at(t), "merge", addition=addition)
        t = int(np.searchsorted(self.ends, at))
        phase = (*IN_EVERY_TILE, WRITE)[at - int(self.loads[t])]
        return Snapshot(t, *walk.at(t), phase, bool(walk.previous[t] < 0), bool(walk.last[t]))
