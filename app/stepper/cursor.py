"""A position in an immutable list of steps: moving makes another cursor, nothing is computed or undone."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from flashscope.app.stepper.snapshots import IN_EVERY_TILE, Snapshot, TraceSteps


class Step(Protocol):
    """One step of a recording, whatever was recorded.

    Attributes:
        tile: Index of the tile in running order, -1 before the first.
        phase: What has just been done.
        merges: Whether it adds parts of what tiles left.
        place: What rises from step to step.
    """

    @property
    def tile(self) -> int: ...  # noqa: D102 - as above
    @property
    def phase(self) -> str: ...  # noqa: D102 - as above
    @property
    def merges(self) -> bool: ...  # noqa: D102 - as above
    @property
    def place(self) -> tuple[Any, ...]: ...  # noqa: D102 - as above


StepKind = TypeVar("StepKind", bound=Step)


@dataclass(frozen=True)
class StepsOf(Generic[StepKind]):
    """The steps of one recording, and where each tile ends among them."""

    steps: Sequence[StepKind]

    @cached_property
    def tile_ends(self) -> tuple[int, ...]:
        """The last step of each tile, rising, then that of each merge of a query block's parts."""
        pairs = zip(self.steps, [*self.steps[1:], None], strict=True)
        return tuple(
            k
            for k, (a, b) in enumerate(pairs)
            if a.tile >= 0 and (b is None or (b.tile, b.merges) != (a.tile, a.merges))
        )

    @cached_property
    def maxima(self) -> tuple[int, ...]:
        """The step of each tile at which its maximum is known, rising."""
        return tuple(k for k, step in enumerate(self.steps) if step.phase == "maximum")


@dataclass(frozen=True)
class WalkTimeline(StepsOf[Snapshot]):
    """The steps of a walk, whose places are known without looking at them."""

    steps: TraceSteps

    @cached_property
    def tile_ends(self) -> tuple[int, ...]:
        """The last step of each tile, rising, then that of each merge of a query block's parts."""
        steps = self.steps
        merges = steps.before_merges - 1 + steps.additions * np.arange(1, len(steps.merged) + 1)
        return (*steps.ends.tolist(), *merges.tolist())

    @cached_property
    def maxima(self) -> tuple[int, ...]:
        """The step of each tile at which its maximum is known, rising."""
        return tuple((self.steps.loads + IN_EVERY_TILE.index("maximum")).tolist())


@dataclass(frozen=True)
class CursorOf(Generic[StepKind]):
    """The step that is on show, among all of them.

    Attributes:
        timeline: The steps.
        at: Index of the step on show, counted from 0.
    """

    timeline: StepsOf[StepKind]
    at: int = 0

    @cached_property
    def snapshot(self) -> StepKind:
        """The step on show."""
        return self.timeline.steps[self.at]

    @property
    def last(self) -> int:
        """The index of the last step."""
        return len(self.timeline.steps) - 1

    @property
    def ended(self) -> bool:
        """Whether the last step is on show."""
        return self.at == self.last

    def to(self, at: int) -> "CursorOf[StepKind]":
        """The cursor at a step; beyond either end it stays at the end."""
        return replace(self, at=max(0, min(at, self.last)))

    def on(self, timeline: StepsOf[StepKind]) -> "CursorOf[StepKind]":
        """The cursor among other steps of the same tiles: at the same tile and phase, or the last before."""
        passed = bisect_right(timeline.steps, self.snapshot.place, key=attrgetter("place"))
        return CursorOf(timeline, max(0, passed - 1))

    def moved(self, steps: int) -> "CursorOf[StepKind]":
        """The cursor some steps onward, or back when negative."""
        return self.to(self.at + steps)

    def next_tile(self) -> "CursorOf[StepKind]":
        """The end of this tile, or of the next one when this has ended."""
        return self.next_of(self.timeline.tile_ends)

    def previous_tile(self) -> "CursorOf[StepKind]":
        """The end of the tile before, or the start."""
        return self.previous_of((0, *self.timeline.tile_ends))

    def next_of(self, marks: tuple[int, ...]) -> "CursorOf[StepKind]":
        """The first of some rising step indices after this one; here when there is none."""
        k = bisect_right(marks, self.at)
        return self.to(marks[k]) if k < len(marks) else self

    def previous_of(self, marks: tuple[int, ...]) -> "CursorOf[StepKind]":
        """The last of some rising step indices before this one; here when there is none."""
        k = bisect_left(marks, self.at)
        return self.to(marks[k - 1]) if k else self


Timeline: TypeAlias = StepsOf[Snapshot]
Cursor: TypeAlias = CursorOf[Snapshot]
