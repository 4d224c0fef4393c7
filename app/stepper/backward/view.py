"""Everything the panels draw at one step of a backward pass."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flashscope.app.stepper.backward.recording import BackwardRecording, Sums, TilePlace, Weights
from flashscope.app.stepper.backward.steps import BackwardPhase, BackwardStep, BackwardStory
from flashscope.app.stepper.cursor import CursorOf
from flashscope.app.stepper.recording import RecordedFloats

WEIGHTS: dict[Weights, BackwardPhase] = {"p": "weights", "dp": "dp", "ds": "ds"}
"""The step in which each is computed."""


@dataclass(frozen=True, eq=False)
class BackwardView:
    """One step, and the pair that is watched.

    Attributes:
        story: The recording and its steps.
        cursor: Which step is on show.
        watched: Row and key in the tile whose numbers the formulas have; None: those of the largest |dS|.
        added: Show what the tile adds to dQ, dK and dV in the place of the sums so far.
    """

    story: BackwardStory
    cursor: CursorOf[BackwardStep]
    watched: tuple[int, int] | None = None
    added: bool = False

    @property
    def recording(self) -> BackwardRecording:
        """The trace, decoded."""
        return self.story.recording

    @property
    def step(self) -> BackwardStep:
        """The step on show."""
        return self.cursor.snapshot

    @property
    def started(self) -> bool:
        """Whether a tile has been loaded."""
        return self.step.tile >= 0

    @property
    def tile(self) -> int:
        """The tile on show; before the first that one."""
        return max(self.step.tile, 0)

    @property
    def place(self) -> TilePlace:
        """Which that is."""
        return self.recording.at(self.tile)

    @cached_property
    def area(self) -> tuple[slice, slice]:
        """Its queries and its keys."""
        return self.recording.area(self.tile)

    def weights(self, name: Weights) -> RecordedFloats | None:
        """P, dP or dS once it is computed (rows, keys)."""
        there = self.started and self.step.reached(WEIGHTS[name])
        return self.recording.weights(name, self.step.tile) if there else None

    def sums(self, name: Sums) -> RecordedFloats | None:
        """dQ, dK or dV of the tile's rows at this step, or what the tile adds; None: it adds none."""
        if not self.started:
            return None
        before, after = self.recording.before(name, self.tile), self.recording.after(name, self.tile)
        if before is None or after is None:
            return None
        done = self.step.reached(name)
        if self.added:
            return after - before if done else None
        return after if done else before

    @cached_property
    def pair(self) -> tuple[int, int]:
        """Row and key in the tile whose numbers the formulas have."""
        rows, keys = (one.stop - one.start for one in self.area)
        if self.watched is not None and self.watched[0] < rows and self.watched[1] < keys:
            return self.watched
        sizes = np.nan_to_num(np.abs(self.recording.weights("ds", self.tile)))
        row, key = np.unravel_index(int(sizes.argmax()), sizes.shape)
        return int(row), int(key)
