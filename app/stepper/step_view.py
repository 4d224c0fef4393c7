"""Everything the panels draw at one step: immutable, computed once, shared by all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor, Timeline, WalkTimeline
from flashscope.app.stepper.events import StepEvent, find_events
from flashscope.app.stepper.recording import RecordedFloats, Recording, RowState
from flashscope.app.stepper.row_history import RowHistory, row_history
from flashscope.app.stepper.snapshots import Snapshot, TraceSteps
from flashscope.app.stepper.traffic import HbmBytes, RunningBytes, running_traffic


@dataclass(frozen=True, eq=False)
class SteppedTrace:
    """A recording, its steps, and the bytes that each step moves.

    Attributes:
        recording: The trace, decoded.
        timeline: Its steps.
        traffic: Bytes moved up to each step (a model).
    """

    recording: Recording
    timeline: Timeline
    traffic: RunningBytes

    @classmethod
    def of(cls, recording: Recording) -> "SteppedTrace":
        """Lay out a recording's steps."""
        steps = TraceSteps(recording, additions=len(recording.additions))
        return cls(recording, WalkTimeline(steps), running_traffic(recording, steps))

    @cached_property
    def busiest(self) -> int:
        """The most bytes that one step moves."""
        return self.traffic.busiest

    @cached_property
    def history(self) -> Callable[[int], RowHistory]:
        """Gives the history of a row, by its number; those gathered go with the story."""
        return lru_cache(maxsize=512)(partial(row_history, self.recording))

    def numbers(self, at: int) -> Mapping[str, str]:
        """What a story may say of a step beside its numbers; of one trace nothing."""
        del at
        return {}

    def events(self, choice: RowChoice, alpha_below: float) -> tuple[StepEvent, ...]:
        """What is worth stopping at for the row watched."""
        return find_events(self.recording, self.timeline, choice, alpha_below)


@dataclass(frozen=True, eq=False)
class StepView:
    """What the panels show: one step of a recording, and one query row that is watched.

    Attributes:
        story: The recording and its steps.
        cursor: Which step is on show.
        choice: The row asked for.
        local_max: The slides' notation: exp(S - the tile's own maximum), with a factor beta.
    """

    story: SteppedTrace
    cursor: Cursor
    choice: RowChoice
    local_max: bool = False

    @property
    def recording(self) -> Recording:
        """The trace, decoded."""
        return self.story.recording

    @property
    def step(self) -> Snapshot:
        """The step on show."""
        return self.cursor.snapshot

    @property
    def started(self) -> bool:
        """Whether a tile has been loaded."""
        return self.step.tile >= 0

    @property
    def row(self) -> int:
        """The query row watched."""
        return self.choice.watched(self.recording, self.step.i)

    @property
    def local_row(self) -> int | None:
        """Where the row watched lies in the current tile, None when it is in another query block."""
        row = self.choice.row_in(self.recording, self.step.i)
        return None if row is None or not self.started else row - self.step.i * self.recording.block_q

    @cached_property
    def history(self) -> RowHistory:
        """The history of the row watched."""
        return self.story.history(self.row)

    @cached_property
    def known(self) -> int:
        """In how many of the row's tiles m and alpha are known."""
        done = self.step.tile if self.step.reached("maximum") else self.step.tile - 1
        return self.history.passed(done)

    @cached_property
    def finished(self) -> int:
        """In how many of the row's tiles m, l and O are known."""
        done = self.step.tile if self.step.reached("output") else self.step.tile - 1
        return self.history.passed(done)

    @cached_property
    def summed(self) -> int:
        """In how many of the row's tiles l is known."""
        done = self.step.tile if self.step.reached("weights") else self.step.tile - 1
        return self.history.passed(done)

    @cached_property
    def scores(self) -> RecordedFloats | None:
        """S of the current tile once it is computed; none while parts are merged."""
        there = self.step.reached("scores") and not self.step.merges
        return self.recording.scores(self.step.tile) if there else None

    @cached_property
    def weights(self) -> RecordedFloats | None:
        """P of the current tile once it is computed."""
        if not self.step.reached("weights") or self.step.merges:
            return None
        return self.recording.weights(self.step.tile, local=self.local_max)

    @cached_property
    def before(self) -> RowState:
        """The rows of the current query block before the current tile; of a merge the sum before it."""
        t = self.step.tile
        if self.step.merges:
            return self.recording.merged(self.recording.sum_before(self.step.addition), self.step.i)
        return self.recording.state(int(self.recording.previous[t]) if t >= 0 else -1, self.step.i)

    @cached_property
    def state(self) -> RowState:
        """The rows of the current query block at this step: m, l and O change one phase after another."""
        if not self.step.reached("maximum"):
            return self.before
        if self.step.merges:
            return self.recording.merged(self.step.addition, self.step.i)
        after = self.recording.state(self.step.tile, self.step.i)
        return RowState(
            after.m,
            after.l if self.step.reached("weights") else self.before.l,
            after.o if self.step.reached("output") else self.before.o,
        )

    @property
    def bytes_moved(self) -> HbmBytes:
        """Bytes moved so far (a model)."""
        return self.story.traffic[self.cursor.at]
