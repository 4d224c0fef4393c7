"""The rows of a timeline: where its bars ran, or the blocks that they belong to; no Qt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flashscope.app.figures.lane_bars import LaneBars
from flashscope.kernels.workload.timeline import NO_PLACE, STAGES, StageTimeline, outer_is_keys

RowsBy = Literal["place", "block"]
KEYS = {1: "h head, i query block", 2: "h head, j key block"}  # by where in a tile the block of a row stands
APART = " · "  # between a block and its place, where it has a row for each
BY_BLOCK = 2  # numbers that name a block: its head, and which of that it is
MOST_BLOCK_LANES = 4_096  # more of them nobody tells apart, or scrolls through


@dataclass(frozen=True, eq=False)
class TimelineRows:
    """A timeline ready to be drawn.

    Attributes:
        timeline: What was recorded.
        bars: Its bars on lanes; lane = row times lanes of a row, plus the lane in the row.
        names: What each row is called.
        lanes: What the lanes of a row are called.
        tile: int32 (B, 3): head, i and j of each bar of `bars`, -1 where there is none.
        key: What the letters in the names of rows mean; empty: there are none.
    """

    timeline: StageTimeline
    bars: LaneBars
    names: Sequence[str]
    lanes: Sequence[str]
    tile: NDArray[np.int32]
    key: str = ""

    @classmethod
    def of(cls, timeline: StageTimeline, by: RowsBy = "place") -> "TimelineRows":
        """Rows where the bars ran, or one for each block unless these are more than can be drawn.

        A block that ran in several places at once has a row for each of them.
        """
        lane, tile = timeline.lane.numpy(), timeline.tile.numpy()
        names = [f"{timeline.row_kind} {number}" for number in timeline.rows.numpy().tolist()]
        order: NDArray[np.intp] | slice = slice(None)
        key = ""
        if by == "block":
            outer = 2 if outer_is_keys(timeline.request) else 1
            blocks, of_blocks, running = _by_block(timeline, tile[:, [0, outer]])
            if 0 < len(blocks) * len(timeline.lanes) <= MOST_BLOCK_LANES:
                lane, order, apart = of_blocks, running, blocks.shape[1] > BY_BLOCK
                numbers = timeline.rows.numpy().tolist()
                names = [
                    APART.join(
                        (_block_name("ij"[outer - 1], head, number), *(str(numbers[one]) for one in place))
                    )
                    for head, number, *place in blocks.tolist()
                ]
                key = APART.join((KEYS[outer], *[timeline.row_kind] * apart))
        bars = LaneBars(
            lanes=len(names) * len(timeline.lanes),
            stages=len(STAGES),
            span=timeline.span_ns,
            lane=lane[order],
            stage=timeline.stage.numpy()[order],
            begin=timeline.begin.numpy()[order],
            end=timeline.end.numpy()[order],
        )
        return cls(timeline, bars, names, timeline.lanes, tile[order], key)

    def last_to_end(self, most: int) -> "TimelineRows":
        """Those rows alone whose last bars end last, so many at most, in their order."""
        if most >= len(self.names):
            return self
        bars, lanes = self.bars, len(self.lanes)
        row, ends = bars.lane // lanes, np.zeros(len(self.names), np.int64)
        np.maximum.at(ends, row, bars.end)
        chosen = np.sort(np.argsort(-ends, kind="stable")[:most])
        place = np.full(len(self.names), NO_PLACE)
        place[chosen] = np.arange(most)
        held = place[row] != NO_PLACE
        fewer = replace(
            bars,
            lanes=most * lanes,
            lane=(place[row] * lanes + bars.lane % lanes)[held],
            stage=bars.stage[held],
            begin=bars.begin[held],
            end=bars.end[held],
        )
        names = [self.names[one] for one in chosen.tolist()]
        return replace(self, bars=fewer, names=names, tile=self.tile[held])


def _by_block(
    timeline: StageTimeline, blocks: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.integer], NDArray[np.intp]]:
    """The blocks there are, the lane of each bar on a row for each of them, and the bars in that order.

    A block whose keys are in parts may run in several places at once: then each place has a row of its own,
    and what there is of a block ends with the number of that.
    """
    found, row = np.unique(blocks, axis=0, return_inverse=True)
    place, lane = np.divmod(timeline.lane.numpy(), len(timeline.lanes))
    lane = row.ravel() * len(timeline.lanes) + lane
    begin, end = timeline.begin.numpy(), timeline.end.numpy()
    order = np.lexsort((begin, lane))
    same = lane[order][1:] == lane[order][:-1]
    if blocks.shape[1] == BY_BLOCK and (same & (begin[order][1:] < end[order][:-1])).any():
        return _by_block(timeline, np.column_stack((blocks, place)))
    return found, lane, order


def _block_name(letter: str, head: int, block: int) -> str:
    if block == NO_PLACE:
        return "all" if head == NO_PLACE else f"head {head}"
    return f"h{head} {letter} {block}"
