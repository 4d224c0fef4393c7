"""From the clocks that flash2 recorded to bars on lanes: cycles of an SM become ns between two anchors.

A warp's clock counts the cycles of its SM in 32 bits, which it passes once in two seconds; the GPU's global
timer, which ticks in 32 ns on Hopper, is read at the begin and the end of a block and gives them a place on
one axis. So a bar's length is good to a few cycles where the SM's clock holds still within a block, and its
place to some tens of ns. What a stage issues may end in the next one: the last products of QK^T are waited
for where the softmax reads them. The softmax ends where PV has its first operand, 16 columns of P; the other
exponentials run amid PV, as in the timed kernel.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.kernels.cuda.program import TileSize, ceil_div
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import LOAD, NO_PLACE, PV, QK, SOFTMAX, STORE

Nanoseconds64 = npt.NDArray[np.int64]
CYCLES = 1 << 32


class ClockedBlocks(NamedTuple):
    """What one launch recorded: W warps of all blocks, at most S steps each.

    Attributes:
        steps: uint32 (W, S, n): of flash2 clocks when the wait, QK^T, the softmax and PV of a step began.
        ends: uint64 (W, 4): global timer at begin and at end; clocks at begin and end; of the store, and SM.
        warps: Of a block.
    """

    steps: Any
    ends: Any
    warps: int


class WarpBars(NamedTuple):
    """Bars in the order of lanes and times; fields as those of `kernels.workload.timeline.StageTimeline`."""

    rows: npt.NDArray[np.int32]
    lanes: tuple[str, ...]
    lane: npt.NDArray[np.int32]
    stage: npt.NDArray[np.uint8]
    tile: npt.NDArray[np.int32]
    begin: Nanoseconds64
    end: Nanoseconds64
    block_lane: npt.NDArray[np.int32]
    block: npt.NDArray[np.int32]
    block_begin: Nanoseconds64
    block_end: Nanoseconds64
    span_ns: int


def walk(problem: Problem, tile: TileSize, block: int) -> tuple[int, int, list[int]]:
    """Head, query tile and key tiles, in their order, of a block of flash2; as flash2.cu has them."""
    heads = problem.batch * problem.heads
    tiles = ceil_div(problem.seqlen_q, tile.q)
    head, i = (block % heads, tiles - 1 - block // heads) if problem.causal else divmod(block, tiles)
    rows = range(i * tile.q, min((i + 1) * tile.q, problem.seqlen_q))
    bands = problem.mask.band(rows[0]), problem.mask.band(rows[-1])
    last = ceil_div(bands[1].stop, tile.k) - 1
    steps = max(0, last + 1 - bands[0].start // tile.k)
    return head, i, [last - step for step in range(steps)]


def most_steps(problem: Problem, tile: TileSize) -> int:
    """As many key tiles as a block can visit."""
    return ceil_div(problem.seqlen_k, tile.k)


def lane_bars(problem: Problem, tile: TileSize, found: ClockedBlocks, multiprocessors: int) -> WarpBars:
    """The bars of all warps of flash2."""

    def told(block: int) -> ToldBlock:
        where = walk(problem, tile, block)
        own = range(block * found.warps, (block + 1) * found.warps)
        bars = [_forward(where, found.steps[warp], block_ends(found, warp)) for warp in own]
        return ToldBlock(*where[:2], bars)

    return warp_lanes(found, told, multiprocessors)


class ToldBlock(NamedTuple):
    """What a block's warps tell.

    Attributes:
        head: Its head.
        number: Which query block, or key block where these are outer.
        bars: Of each warp int64 (n, 6): stage, head, i, j, and in clocks begin and end, which do not go back.
    """

    head: int
    number: int
    bars: Sequence[npt.NDArray[np.int64]]


def warp_lanes(found: ClockedBlocks, told: Callable[[int], ToldBlock], multiprocessors: int) -> WarpBars:
    """Bars on lanes: a row for each SM that wrote clocks, a lane for each warp of blocks side by side."""
    ends = found.ends.view(np.uint32).reshape(-1, found.warps, 8)
    times = found.ends.reshape(-1, found.warps, 4)[..., :2].astype(np.int64)
    times -= times[..., 0].min()
    begin, end, sm = times[..., 0].min(axis=1), times[..., 1].max(axis=1), ends[:, 0, 7].astype(np.int64)
    slot = slots(sm, begin, end)
    lanes = (int(slot.max(initial=0)) + 1) * found.warps
    every = [np.empty((0, 7), np.int64)]
    blocks: list[tuple[int, ...]] = []
    for block in np.flatnonzero(sm < multiprocessors).tolist():
        one = told(block)
        for warp, bars in enumerate(one.bars):
            lane = int(sm[block]) * lanes + int(slot[block]) * found.warps + warp
            ns = _ns(bars[:, 4:], ends[block, warp], times[block, warp])
            every.append(np.column_stack((np.full(len(bars), lane), bars[:, :4], ns)))
            blocks.append((lane, one.head, one.number, *times[block, warp].tolist()))
    bars, of_block = np.concatenate(every), np.array(blocks, np.int64).reshape(-1, 5)
    bars = bars[np.lexsort((bars[:, 6], bars[:, 5], bars[:, 0]))]
    names = (
        f"block slot {n + 1}, warp {warp}" for n in range(lanes // found.warps) for warp in range(found.warps)
    )
    return WarpBars(
        rows=np.arange(multiprocessors, dtype=np.int32),
        lanes=tuple(names),
        lane=bars[:, 0].astype(np.int32),
        stage=bars[:, 1].astype(np.uint8),
        tile=bars[:, 2:5].astype(np.int32),
        begin=bars[:, 5],
        end=bars[:, 6],
        block_lane=of_block[:, 0].astype(np.int32),
        block=of_block[:, 1:3].astype(np.int32),
        block_begin=of_block[:, 3],
        block_end=of_block[:, 4],
        span_ns=int(end.max(initial=0)),
    )


def slots(sm: Nanoseconds64, begin: Nanoseconds64, end: Nanoseconds64) -> Nanoseconds64:
    """Which of the places of its SM each block had: the first that was free when it began."""
    taken: dict[int, list[int]] = {}
    found = np.zeros(len(sm), np.int64)
    for block in np.lexsort((end, begin)).tolist():
        busy = taken.setdefault(int(sm[block]), [])
        place = next((n for n, until in enumerate(busy) if until <= begin[block]), len(busy))
        busy[place : place + 1] = [int(end[block])]
        found[block] = place
    return found


def block_ends(found: ClockedBlocks, warp: int) -> tuple[int, int, int]:
    """The clocks of a warp's begin, its end and its store."""
    first, last, store = found.ends.view(np.uint32).reshape(-1, 8)[warp, 4:7].tolist()
    return first, last, store


def _ns(clocks: npt.NDArray[np.int64], ends: Any, times: Nanoseconds64) -> Nanoseconds64:
    """Begins and ends of one warp's bars, which are in order, in ns."""
    first, last = int(ends[4]), int(ends[5])
    cycles = (clocks.ravel() - first) % CYCLES
    whole = max(1, (last - first) % CYCLES)
    ns = times[0] + np.rint(cycles * ((times[1] - times[0]) / whole)).astype(np.int64)
    return np.maximum.accumulate(np.clip(ns, times[0], times[1])).reshape(clocks.shape)


def _forward(where: tuple[int, int, list[int]], steps: Any, ends: tuple[int, int, int]) -> Nanoseconds64:
    """The bars of one warp of flash2, each until the next one begins."""
    (head, i, keys), (first, last, store) = where, ends
    clocks = np.append(steps[: len(keys)].astype(np.int64).ravel(), [store, last])
    clocks[0] = first  # what comes before the first step, the copies of Q among it, is a part of its load
    stages = [*(stage for _ in keys for stage in (LOAD, QK, SOFTMAX, PV)), STORE]
    tiles = [*(j for j in keys for _ in range(4)), NO_PLACE]
    same = np.tile([[head, i]], (len(stages), 1))
    return np.column_stack((stages, same, tiles, clocks[:-1], clocks[1:]))
