"""The steps of a backward pass: one product or one line of a tile at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args, overload

import numpy as np

from flashscope.app.stepper.backward.recording import SUMS, BackwardRecording
from flashscope.app.stepper.cursor import CursorOf, StepsOf
from flashscope.app.stepper.walk import Ints

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
class BackwardSteps(Sequence[BackwardStep]):
    """The start, and the steps of each tile, the last of its keys or queries with a write.

    Each is made when it is looked at: a long trace has tens of thousands.

    Attributes:
        phases: What a tile of the main launch does, and one of a launch that computes dQ alone.
        main: How many tiles the main launch has.
        whole: Whether a gradient's block is whole after a tile, and is written (bool, (T + R,)).
    """

    phases: tuple[tuple[BackwardPhase, ...], tuple[BackwardPhase, ...]]
    main: int
    whole: Ints

    @cached_property
    def ends(self) -> Ints:
        """The last step of each tile, rising."""
        main, apart = map(len, self.phases)
        each = np.where(np.arange(len(self.whole)) < self.main, main, apart)
        return np.cumsum(each + self.whole)

    def __len__(self) -> int:
        return 1 + (int(self.ends[-1]) if len(self.ends) else 0)

    @overload
    def __getitem__(self, at: int) -> BackwardStep: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[BackwardStep]: ...

    def __getitem__(self, at: int | slice) -> BackwardStep | Sequence[BackwardStep]:
        if isinstance(at, slice):
            return tuple(self[k] for k in range(len(self))[at])
        at = range(len(self))[at]
        if not at:
            return BackwardStep(-1, "start")
        tile = int(np.searchsorted(self.ends, at))
        done = at - 1 - (int(self.ends[tile - 1]) if tile else 0)
        phases = self.phases[tile >= self.main]
        return BackwardStep(tile, phases[done] if done < len(phases) else "write")


@dataclass(frozen=True)
class BackwardTimeline(StepsOf[BackwardStep]):
    """The steps of a backward pass, and where tiles end and gradients are written among them."""

    steps: BackwardSteps

    @cached_property
    def tile_ends(self) -> tuple[int, ...]:
        """The last step of each tile, rising."""
        return tuple(self.steps.ends.tolist())

    @cached_property
    def writes(self) -> tuple[int, ...]:
        """The steps that write a gradient's block, rising."""
        return tuple(self.steps.ends[np.flatnonzero(self.steps.whole)].tolist())


@dataclass(frozen=True, eq=False)
class BackwardStory:
    """A recording and its steps."""

    recording: BackwardRecording
    timeline: BackwardTimeline

    @classmethod
    def of(cls, recording: BackwardRecording) -> "BackwardStory":
        """Lay out the steps."""
        phases = _phases(recording, 0), _phases(recording, recording.tiles - 1)
        whole = np.zeros(recording.tiles, np.intp)
        written = [t for t in recording.finishes["dv"] if not recording.apart(t)]
        written += [t for t in recording.finishes["dq"] if recording.apart(t)]
        whole[written] = 1
        return cls(recording, BackwardTimeline(BackwardSteps(phases, recording.main, whole)))

    @property
    def start(self) -> CursorOf[BackwardStep]:
        """Before the first tile."""
        return CursorOf(self.timeline)


def _phases(recording: BackwardRecording, t: int) -> tuple[BackwardPhase, ...]:
    """What a tile does before it is written: the same of all of its launch."""
    absent = {name for name in SUMS if not recording.has(name, t)}
    return tuple(phase for phase in OF_A_TILE if phase not in absent)
