"""From the clocks that flash3's warpgroups recorded to bars on lanes: a lane for each warpgroup of an SM.

A product runs while its warpgroup goes on, and both products of a step are asked for at once. The tensor
cores take them one after the other: so QK^T lasts from when it is asked for until S is there, and PV of the
key tile before from then until O has it; half of the row maxima are found meanwhile. The softmax takes the
rest of the step, with P rounded and O rescaled. The producer's loads last as long as asking for them takes:
the copies run by themselves, and what is late of them is a wait of those who need it. Between bars a lane
waits.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.kernels.catalogue.flash3_steps import GROUP_ROWS
from flashscope.kernels.cuda.clocks import CYCLES, Nanoseconds64, WarpBars, slots
from flashscope.kernels.cuda.flash3 import COMBINE_LINES
from flashscope.kernels.cuda.program import TileSize, ceil_div
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import LOAD, MERGE, NO_PLACE, PV, QK, SOFTMAX, STORE

ClockRows = npt.NDArray[np.int64]
ROWS_BESIDE_STEPS = 2  # of a tile of queries: its head and its end
PRODUCER = 0  # the lane
NO_BARS = np.empty((0, 7), np.int64)
BLOCK, FIRST_CLOCK, LAST_CLOCK, SM = 1, 4, 5, 6  # places in a tile's head, and in what `ends` has in 32 bits


class GroupCut(NamedTuple):
    """How flash3 cuts a problem.

    Attributes:
        tile: Its tile.
        splits: Parts that a tile's keys are cut into, each a tile of its own.
        packed: Query heads that share K and V and whose rows are taken as those of one head.
        overlap: Whether the scores of a key tile are asked for before the product of the one before; else
            every warpgroup takes one key tile after the other, those too of which its own rows see nothing.
        fp8: Whether it is flash3-fp8, whose product with V comes before the next tile's scores.
    """

    tile: TileSize
    splits: int = 1
    packed: int = 1
    overlap: bool = True
    fp8: bool = False

    @property
    def lanes(self) -> int:
        """Warpgroups of a block; the first is the producer."""
        return self.tile.q // GROUP_ROWS + 1


class ClockedGroups(NamedTuple):
    """What one launch recorded, as flash3_clocks.cuh has it. T tiles, B blocks, W warpgroups, R rows.

    Attributes:
        rows: uint32 (T, W, R, 4): the clocks of each tile of queries.
        ends: uint64 (B, W, 4): global timer at begin and end; in 32 bits clock at begin, at end, and SM.
        merges: uint64 (M, 4), of each block that merges parts of keys: global timer at its begin, when all
            parts were there and when its first row was stored; SM. None: nothing is merged.
    """

    rows: Any
    ends: Any
    merges: Any = None


class GroupTile(NamedTuple):
    """One tile of queries, or a part of its keys.

    Attributes:
        head: Its head.
        i: Which tile of the head.
        keys: Its key tiles in the order in which they are loaded.
        of_groups: Those that each consumer warpgroup multiplies.
    """

    head: int
    i: int
    keys: range
    of_groups: tuple[range, ...]


def most_rows(problem: Problem, tile: TileSize) -> int:
    """Rows of clocks that a tile of queries has at most, of one warpgroup."""
    return ceil_div(problem.seqlen_k, tile.k) + ROWS_BESIDE_STEPS


def tiles(problem: Problem, cut: GroupCut) -> Iterator[GroupTile]:
    """All tiles by their numbers: head, part of its keys, query tile; as flash3_tiles.cuh cuts them."""
    heads = problem.batch * problem.heads // cut.packed
    for place in range(heads * cut.splits):
        head, part = divmod(place, cut.splits)
        for i in range(ceil_div(problem.seqlen_q * cut.packed, cut.tile.q)):
            yield _tile(problem, cut, (head * cut.packed, i, part))


def _tile(problem: Problem, cut: GroupCut, where: tuple[int, int, int]) -> GroupTile:
    head, i, part = where
    first = i * cut.tile.q
    begin = problem.mask.band(0 if cut.packed > 1 else first).start // cut.tile.k
    last = _last(problem, cut, first + cut.tile.q)
    if cut.splits > 1:
        count = last - begin + 1
        begin, last = (
            begin + _toward_zero(count * part, cut.splits),
            begin + _toward_zero(count * (part + 1), cut.splits) - 1,
        )
    of_groups, rows = [], problem.seqlen_q * cut.packed
    for row in range(first, first + cut.tile.q, GROUP_ROWS):
        own = min(last, _last(problem, cut, row + GROUP_ROWS)) if row < rows else begin - 1
        own = own if cut.overlap else last
        of_groups.append(range(own, begin - 1, -1))
    return GroupTile(head, i, range(last, begin - 1, -1), tuple(of_groups))


def _last(problem: Problem, cut: GroupCut, end: int) -> int:
    """The last key tile that rows before `end` see anything of; -1: none. Packed heads are one."""
    if cut.packed > 1:
        end = problem.seqlen_q
    return ceil_div(problem.mask.band(min(end, problem.seqlen_q) - 1).stop, cut.tile.k) - 1


def _toward_zero(count: int, parts: int) -> int:
    """As C++ divides."""
    return count // parts if count >= 0 else -(-count // parts)


def group_bars(problem: Problem, cut: GroupCut, found: ClockedGroups, multiprocessors: int) -> WarpBars:
    """The bars of all warpgroups; a row for each SM, in it a lane for each warpgroup of each block there."""
    axis = GroupAxis(found.ends, group_lanes(cut.lanes))
    bars: list[Any] = []
    if found.merges is not None:
        bars.append(axis.merge_bars(found.merges, _merged(problem, cut, len(found.merges))))
    blocks: list[tuple[int, ...]] = []
    for number, tile in enumerate(tiles(problem, cut)):
        if not found.rows[number].any():
            continue  # its SM wrote none
        rows = found.rows[number].astype(np.int64)
        block = int(rows[PRODUCER, 0, BLOCK])
        steps = _steps_fp8 if cut.fp8 else _steps if cut.overlap else _steps_in_order
        loads = _loads_fp8 if cut.fp8 else _loads
        told = [loads(rows[PRODUCER], tile), *map(steps, rows[1:], tile.of_groups)]
        for lane, (stage, j, clocks) in enumerate(told):
            place, times = axis.place(block, lane), axis.times(block, lane, clocks)
            bars.append(np.empty((len(stage), 7), np.int64))  # lane, stage, head, i, j, begin, end
            bars[-1][:] = place, 0, tile.head, tile.i, 0, 0, 0
            bars[-1][:, 1], bars[-1][:, 4], bars[-1][:, 5:] = stage, j, times
            if lane != PRODUCER and tile.of_groups[lane - 1]:
                begun = axis.times(block, lane, rows[lane, 0, :1])[0]
                blocks.append((place, tile.head, tile.i, begun, times[-1, 1]))
    return assembled(axis, bars, blocks, multiprocessors)


def _merged(problem: Problem, cut: GroupCut, blocks: int) -> Any:
    """Head and tile of queries of the first row of each block that merges; they have as many rows each."""
    rows = problem.batch * problem.heads * problem.seqlen_q
    first = np.arange(blocks) * (COMBINE_LINES // ceil_div(blocks * COMBINE_LINES, rows))
    head, row = np.divmod(first, problem.seqlen_q * cut.packed)
    return np.column_stack((head * cut.packed, row // cut.tile.q))


def assembled(
    axis: "GroupAxis", bars: Sequence[Any], blocks: Sequence[tuple[int, ...]], multiprocessors: int
) -> WarpBars:
    """Bars in the order of their lanes and times.

    Args:
        axis: Where the lanes are.
        bars: int64 (n, 7), any number of them: lane, stage, head, i, j, begin and end of each bar.
        blocks: Lane, head, number, begin and end of each block.
        multiprocessors: Those that wrote clocks.
    """
    # Of other SMs there are merges, and rows of a round before, in which a block was on one of these.
    lanes = multiprocessors * len(axis.names)
    every, of_block = (
        found[found[:, 0] < lanes]
        for found in (np.concatenate([NO_BARS, *bars]), np.array(blocks, np.int64).reshape(-1, 5))
    )
    every = every[np.lexsort((every[:, 6], every[:, 5], every[:, 0]))]
    return WarpBars(
        rows=np.arange(multiprocessors, dtype=np.int32),
        lanes=axis.names,
        lane=every[:, 0].astype(np.int32),
        stage=every[:, 1].astype(np.uint8),
        tile=every[:, 2:5].astype(np.int32),
        begin=every[:, 5],
        end=every[:, 6],
        block_lane=of_block[:, 0].astype(np.int32),
        block=of_block[:, 1:3].astype(np.int32),
        block_begin=of_block[:, 3],
        block_end=of_block[:, 4],
        span_ns=axis.span_ns,
    )


def group_lanes(groups: int) -> tuple[str, ...]:
    """What the lanes of a block are called, the first of which loads."""
    return ("producer", *(f"warpgroup {group}" for group in range(1, groups)))


class GroupAxis:
    """Where each block's warpgroups ran, and their clocks in ns since the first of all began.

    Args:
        ends: uint64 (blocks, lanes, 4): the anchors of each lane.
        names: Of the lanes of a block.
    """

    def __init__(self, ends: Any, names: tuple[str, ...]) -> None:
        lanes = len(names)
        small = ends.view(np.uint32).reshape(-1, lanes, 8).astype(np.int64)
        times = ends.reshape(-1, lanes, 4)[..., :2].astype(np.int64)
        self._times = times - times[..., 0].min()
        self._first = small[..., FIRST_CLOCK]
        self._cycles = np.maximum(1, (small[..., LAST_CLOCK] - self._first) % CYCLES)
        begin, end = self._times[..., 0].min(axis=1), self._times[..., 1].max(axis=1)
        self._sm = small[:, PRODUCER, SM]
        self._slot = slots(self._sm, begin, end)
        self._side_by_side = int(self._slot.max(initial=0)) + 1
        self._lanes, self._names = lanes, names
        self.span_ns, self._zero = int(end.max(initial=0)), int(times[..., 0].min())
        self._merging = 0  # blocks side by side on an SM

    def merge_bars(self, merges: Any, tiles: Any) -> Any:
        """Bars of blocks that merge, int64 (n, 7), on lanes of their own behind the others of their SMs.

        To be called before any lane is placed.
        """
        begun, ready, ended = (merges[:, n].astype(np.int64) - self._zero for n in range(3))
        sm = merges[:, 3].astype(np.int64)
        slot = slots(sm, begun, ended)
        self._merging = int(slot.max(initial=0)) + 1
        self.span_ns = max(self.span_ns, int(ended.max(initial=0)))
        place = sm * self._of_row + self._side_by_side * self._lanes + slot
        none = np.full(len(merges), NO_PLACE)
        ready = np.minimum(ready, ended)
        return np.column_stack((place, np.full(len(merges), MERGE), tiles, none, ready, ended))

    @property
    def _of_row(self) -> int:
        """Lanes of an SM."""
        return self._side_by_side * self._lanes + self._merging

    @property
    def names(self) -> tuple[str, ...]:
        """Of the lanes of a row."""
        names = self._names
        merging = ["merge"] if self._merging == 1 else [f"merge {n + 1}" for n in range(self._merging)]
        if self._side_by_side == 1:
            return (*names, *merging)
        slots_of = range(self._side_by_side)
        return (*(f"block slot {n + 1}, {name}" for n in slots_of for name in names), *merging)

    def place(self, block: int, lane: int) -> int:
        """The place of a warpgroup's lane."""
        return int(self._sm[block]) * self._of_row + int(self._slot[block]) * self._lanes + lane

    def begin_ns(self, block: int, lane: int) -> int:
        """When a warpgroup began."""
        return int(self._times[block, lane, 0])

    def times(self, block: int, lane: int, clocks: Any) -> Nanoseconds64:
        """Clocks of a warpgroup in ns."""
        begin, end = self._times[block, lane]
        cycles = (clocks - self._first[block, lane]) % CYCLES
        ns = begin + np.rint(cycles * ((end - begin) / self._cycles[block, lane])).astype(np.int64)
        return np.asarray(np.clip(ns, begin, end))


def _loads(rows: ClockRows, tile: GroupTile) -> tuple[list[int], list[int], ClockRows]:
    """Stage, j, begin and end of each of the producer's bars: Q, then K of each key tile ahead of its V."""
    keys = tile.keys
    if not keys:
        return [], [], np.empty((0, 2), np.int64)
    early = rows[1, 2] != 0  # K of the first tile came with Q
    asked = [(NO_PLACE, rows[0, 2:])]
    for row, j in zip(rows[1:], range(keys[0] + (not early), keys[-1] - 1, -1), strict=False):
        if j > keys[-1]:
            asked.append((j - 1, row[:2]))
        if j <= keys[0]:
            asked.append((j, row[2:]))
    return [LOAD] * len(asked), [j for j, _ in asked], np.array([clocks for _, clocks in asked])


def _steps(rows: ClockRows, keys: range) -> tuple[list[int], list[int], ClockRows]:
    """The same of a consumer's bars: the stages of each key tile, and the store."""
    if not keys:
        return [STORE], [NO_PLACE], rows[:1, :2]
    count = len(keys)
    asked, ended = rows[: count + 1, 3], rows[count + 1]
    ready, added, done = rows[1 : count + 1, :3].T
    stages, j, clocks = [], [], []
    for n, key in enumerate(keys):
        stages += [QK, PV, SOFTMAX] if n else [QK, SOFTMAX]
        j += [key, keys[n - 1], key] if n else [key, key]
        clocks.append((asked[n], ready[n]))
        if n:
            clocks.append((ready[n], added[n]))
        clocks.append((added[n] if n else ready[n], done[n]))
    return (
        [*stages, PV, STORE],
        [*j, keys[-1], NO_PLACE],
        np.array([*clocks, (asked[count], ended[0]), (ended[0], ended[1])]),
    )


def _steps_in_order(rows: ClockRows, keys: range) -> tuple[list[int], list[int], ClockRows]:
    """The same of a consumer that overlaps nothing; a wait for V counts as a part of its product."""
    if not keys:
        return [STORE], [NO_PLACE], rows[:1, :2]
    count = len(keys)
    ready, added, done = rows[1 : count + 1, :3].T
    clocks = np.column_stack((rows[:count, 3], ready, ready, done, done, added)).reshape(-1, 2)
    return (
        [*[QK, SOFTMAX, PV] * count, STORE],
        [*(j for j in keys for _ in range(3)), NO_PLACE],
        np.vstack((clocks, rows[count + 1, :2])),
    )


def _loads_fp8(rows: ClockRows, tile: GroupTile) -> tuple[list[int], list[int], ClockRows]:
    """The same of flash3-fp8's producer: Q, also where no row sees a key, then K and V of each key tile."""
    count = len(tile.keys)
    asked = np.vstack((rows[:1, 2:], rows[1 : count + 1].reshape(-1, 2)))
    return [LOAD] * len(asked), [NO_PLACE, *(j for j in tile.keys for _ in "KV")], asked


def _steps_fp8(rows: ClockRows, keys: range) -> tuple[list[int], list[int], ClockRows]:
    """The same of flash3-fp8's consumer: scores after a product with V last from when O has that.

    The softmax of the first half of a tile's scores may begin while the second half is under way: that part
    of it counts as a part of QK^T.
    """
    if not keys:
        return [STORE], [NO_PLACE], rows[:1, :2]
    count = len(keys)
    ready, done, asked, added = rows[1 : count + 1].T
    begun = np.append(rows[0, 3], added[:-1])
    clocks = np.column_stack((begun, ready, ready, done, asked, added)).reshape(-1, 2)
    return (
        [*[QK, SOFTMAX, PV] * count, STORE],
        [*(j for j in keys for _ in range(3)), NO_PLACE],
        np.vstack((clocks, rows[count + 1, :2])),
    )
