"""What the lanes have computed of the row watched: flash1 and flash2 from traces, standard from rows of S."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor, WalkTimeline
from flashscope.app.stepper.lanes import PASSES, StandardLane
from flashscope.app.stepper.recording import RecordedFloats, Recording
from flashscope.app.stepper.snapshots import TraceSteps
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.app.stepper.traffic import RunningBytes

SOFTMAX_DONE = 2  # passes: S and the softmax
MOST_CELLS = 1 << 20  # of a matrix that is drawn cell by cell; of a larger one a cell stands for a tile


class RowNow(NamedTuple):
    """A row of a lane; None: not known yet.

    Attributes:
        row: Its number.
        m: Its maximum so far.
        l: Its sum so far.
        o: Component 0 of its output so far.
    """

    row: int
    m: float | None = None
    l: float | None = None
    o: float | None = None


def stepped_alike(recording: Recording) -> SteppedTrace:
    """A recording with the steps that all lanes have; bytes are the lanes' own."""
    none = np.empty(0, np.int64)
    return SteppedTrace(recording, WalkTimeline(TraceSteps(recording, alike=True)), RunningBytes(none, none))


def tiled_row(story: SteppedTrace, at: int, choice: RowChoice) -> RowNow:
    """The row watched at a step of a trace; of another query block than the one on show nothing is told."""
    view = StepView(story, Cursor(story.timeline, at), choice)
    if view.local_row is None:
        return RowNow(view.row)
    state, r = view.state, view.local_row
    return RowNow(view.row, float(state.m[r]), float(state.l[r]), float(state.o[r, 0]))


@dataclass(frozen=True, eq=False)
class WholeMatrices:
    """S and P of a recording as standard has them: whole.

    Attributes:
        recording: Whose scores.
        s: What is drawn of S, -inf where the masks keep nothing: (Nq, Nk); where S is large, (Tr, Tc), the
            largest of each tile.
        p: exp(S - LSE), likewise.
    """

    recording: Recording
    s: RecordedFloats
    p: RecordedFloats

    @classmethod
    @np.errstate(all="ignore")  # a file may hold any score
    def of(cls, recording: Recording) -> "WholeMatrices":
        """Gather the tiles, and take the softmax of their rows."""
        lse = recording.trace.lse.numpy().astype(np.float32)
        if recording.seqlen_q * recording.seqlen_k <= MOST_CELLS:
            s = _gathered(recording)
            return cls(recording, s, np.exp(s - lse[:, None]))
        top = recording.s.max(axis=2)  # of the rows of each tile
        padded = np.full(recording.blocks_q * recording.block_q, np.inf, np.float32)
        padded[: len(lse)] = lse
        below = top - padded.reshape(recording.blocks_q, recording.block_q)[recording.tile[:, 0]]
        s, p = (_of_tiles(recording, values.max(axis=1)) for values in (top, below))
        return cls(recording, s, np.exp(p))

    def row(self, lane: StandardLane, at: int, choice: RowChoice) -> RowNow:
        """The row watched at a step: m and l once the softmax has taken it, then O as its products add up."""
        place, walk = lane.place(at), lane.walk
        row = choice.watched(walk, place.i)
        if place.tile < 0:
            return RowNow(row)
        over, here = PASSES.index(place.phase), row // walk.block_q == place.i
        passed = over + (row // walk.block_q < place.i)  # passes that the row has behind it
        begun = over == 1 and here and (place.writes or walk.previous[place.tile] >= 0)  # takes rows whole
        if passed < SOFTMAX_DONE and not begun:
            return RowNow(row)
        tiles = self.recording.order_of_tile[row // walk.block_q] >= 0
        if passed == SOFTMAX_DONE:  # its products are being added, if it is the turn of its block
            at_key = np.arange(walk.blocks_k)
            added = at_key >= place.j if walk.request.reverse else at_key <= place.j
            tiles = tiles & added if here else np.zeros_like(tiles)
        elif passed < SOFTMAX_DONE:
            tiles = np.zeros_like(tiles)
        return self._summed(row, tiles)

    @np.errstate(all="ignore")
    def _summed(self, row: int, tiles: NDArray[np.bool_]) -> RowNow:
        """Sum a row up: m, l, and component 0 of O over the keys of some key blocks; without any none."""
        recording = self.recording
        scores = _row_scores(recording, row)
        m = float(scores.max(initial=-np.inf))
        weights = np.exp(scores - (m if np.isfinite(m) else 0.0))
        l = float(weights.sum())
        if not tiles.any():
            return RowNow(row, m, l)
        keys = np.repeat(tiles, recording.block_k)[: recording.seqlen_k]
        o = float(weights[keys] @ recording.trace.v.numpy()[keys, 0])
        return RowNow(row, m, l, o / (l or 1.0))


def _row_scores(recording: Recording, row: int) -> RecordedFloats:
    """A row of S (Nk,) in float64, -inf where no tile ran."""
    i, r = divmod(row, recording.block_q)
    found = np.full(recording.seqlen_k, -np.inf)
    for j, t in enumerate(recording.order_of_tile[i]):
        if t >= 0:
            scores = recording.scores(int(t))[r]
            found[j * recording.block_k : j * recording.block_k + len(scores)] = scores
    return found


def _gathered(recording: Recording) -> RecordedFloats:
    """S (Nq, Nk), -inf where no tile ran."""
    found = np.full((recording.seqlen_q, recording.seqlen_k), -np.inf, np.float32)
    for t in range(recording.tiles):
        i, j = recording.at(t)
        top, left = i * recording.block_q, j * recording.block_k
        scores = recording.scores(t)
        found[top : top + scores.shape[0], left : left + scores.shape[1]] = scores
    return found


def _of_tiles(recording: Recording, values: RecordedFloats) -> RecordedFloats:
    """A value of each tile in its place (Tr, Tc), -inf where none ran."""
    found = np.full((recording.blocks_q, recording.blocks_k), -np.inf, np.float32)
    found[recording.tile[:, 0], recording.tile[:, 1]] = values
    return found
