"""Bars on lanes as pixels: at any zoom what each pixel of each lane shows; no Qt.

Where bars are narrow a pixel shows what most of its cell is: cells of time, as many as there are pixels or up
to twice as many, are counted once, halved from level to level. Where bars are wide, or a pixel is shorter
than a cell, bars themselves are cut into pixels. Both cost as much as there are pixels, however many bars
there are.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

WAITS = 0  # the value of a pixel in which a lane waits; of a stage it is one more than its place
MOST_CELLS = 1 << 24  # of the finest level, all lanes together
FINEST, COARSEST = 1 << 16, 1 << 8  # cells of a lane
WIDE_PX = 4  # of a bar, in the mean, from which on bars themselves are cut
SEAM_PX = 5  # from which a bar stands apart from the next one
Pixels = NDArray[np.uint8]
TimePart = tuple[float, float]


@dataclass(frozen=True, eq=False)
class LaneBars:
    """Bars in the order of their lanes and, in a lane, of their times; no two of a lane overlap.

    Attributes:
        lanes: How many lanes there are.
        stages: How many stages.
        span: Where time ends, in the unit of the bars; it begins at 0.
        lane: int (B,): the lane of each bar.
        stage: int (B,): its stage.
        begin: int (B,): when it begins.
        end: int (B,): when it ends.
    """

    lanes: int
    stages: int
    span: int
    lane: NDArray[np.integer]
    stage: NDArray[np.integer]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    @property
    def finest(self) -> int:
        """Cells of a lane of the finest level: a power of two."""
        fitting = MOST_CELLS // max(1, self.lanes)
        return max(COARSEST, min(FINEST, 1 << max(0, fitting.bit_length() - 1)))

    @cached_property
    def levels(self) -> list[Pixels]:
        """What most of each cell is, (lanes, cells), the finest level first; made when asked for first."""
        finest = self._cut((0.0, float(self.span)), self.finest, 0, self.lanes, seams=False)
        factors = [1 << n for n in range(1, (self.finest // COARSEST).bit_length())]
        best = [np.zeros((self.lanes, self.finest // f), np.uint8) for f in factors]
        most = [np.zeros(level.shape, np.uint16) for level in best]
        for value in (*range(1, self.stages + 1), WAITS):  # a bar wins where a lane waits as long
            count = (finest == value).astype(np.uint16)
            for level, highest in zip(best, most, strict=True):
                count = count[:, 0::2] + count[:, 1::2]
                wins = count > highest
                highest[wins] = count[wins]
                level[wins] = value
        return [finest, *best]

    def make_ready(self) -> None:
        """Make now what is made when it is asked for first, as on a thread that nobody waits for."""
        _ = self.levels, self._begins, self._ends

    def pixels(self, part: TimePart, columns: int, first: int, last: int) -> Pixels:
        """What each pixel of the lanes from `first` up to `last` shows of a part, (lanes, columns)."""
        cell, pixel = max(self.span, 1) / self.finest, (part[1] - part[0]) / columns
        if pixel < cell or self._are_wide(part, columns, first, last):
            return self._cut(part, columns, first, last, seams=True)
        level = min(int(np.log2(pixel / cell)), len(self.levels) - 1)
        cells = self.levels[level][first:last]
        middles = part[0] + (np.arange(columns) + 0.5) * pixel
        places = np.floor(middles / (cell * (1 << level))).astype(np.intp)
        inside = (places >= 0) & (places < cells.shape[1])
        shown: Pixels = np.where(inside, cells[:, np.clip(places, 0, cells.shape[1] - 1)], WAITS)
        return shown

    def _are_wide(self, part: TimePart, columns: int, first: int, last: int) -> bool:
        """Whether bars take several pixels, as a rule."""
        froms, tos = self.within(part, first, last)
        return int((tos - froms).sum()) * WIDE_PX <= columns * (last - first)

    def within(self, part: TimePart, first: int, last: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The bars of each lane that reach into a part: from which one up to which, (lanes,) each."""
        lanes = np.arange(first, last) * self._stride
        before, after = (int(min(max(end, 0), self.span)) for end in (np.floor(part[0]), np.ceil(part[1])))
        froms = np.searchsorted(self._ends, lanes + before, "right")
        return froms, np.maximum(froms, np.searchsorted(self._begins, lanes + after, "left"))

    def at(self, lane: int, moment: float) -> int | None:
        """The place of the bar that a lane has at a moment; None: it waits, or there is no such lane."""
        if not 0 <= lane < self.lanes:
            return None
        place = int(np.searchsorted(self._begins, lane * self._stride + moment, "right")) - 1
        if place < 0 or self.lane[place] != lane or not self.begin[place] <= moment < self.end[place]:
            return None
        return place

    def _cut(self, part: TimePart, columns: int, first: int, last: int, *, seams: bool) -> Pixels:
        """Bars cut into pixels: for each lane a wait, a bar, a wait, ... with the pixels that each takes."""
        froms, tos = self.within(part, first, last)
        counts = tos - froms
        total = int(counts.sum())
        starts = np.cumsum(counts) - counts  # of each lane among the bars on show
        chosen = np.arange(total) + np.repeat(froms - starts, counts)
        scale = columns / max(part[1] - part[0], 1e-9)
        begin, end = (
            np.clip(np.floor((one[chosen] - part[0]) * scale), 0, columns).astype(np.int64)
            for one in (self.begin, self.end)
        )
        row = np.repeat(np.arange(last - first), counts) * columns
        if seams:
            end -= end - begin >= SEAM_PX
        edges = np.empty(2 * total + 1, np.int64)
        edges[0:-1:2], edges[1:-1:2], edges[-1] = row + begin, row + end, (last - first) * columns
        values = np.zeros(2 * total + 1, np.uint8)
        values[1::2] = self.stage[chosen] + 1
        lengths = np.diff(edges, prepend=0)
        return np.repeat(values, lengths).reshape(last - first, columns)

    @property
    def _stride(self) -> int:
        return self.span + 1

    @cached_property
    def _begins(self) -> NDArray[np.int64]:
        return self.lane.astype(np.int64) * self._stride + self.begin

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return self.lane.astype(np.int64) * self._stride + self.end
