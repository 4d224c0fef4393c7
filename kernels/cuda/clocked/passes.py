"""From the clocks that flash1 recorded to bars on lanes: a block passes all queries by each tile of keys."""

from itertools import groupby

import numpy as np

from flashscope.kernels.cuda.clocks import (
    ClockedBlocks,
    Nanoseconds64,
    ToldBlock,
    WarpBars,
    block_ends,
    warp_lanes,
)
from flashscope.kernels.cuda.program import TileSize, ceil_div
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import LOAD, NO_PLACE, PV, QK, SOFTMAX, STORE

CLOCKS = 8  # numbers of a step: flash1_clocks.cuh
CLOCK_BYTES = 4 * CLOCKS
STAGES = LOAD, QK, SOFTMAX, PV, STORE


def passes(problem: Problem, tile: TileSize) -> list[tuple[int, int]]:
    """The tiles (i, j) of a head in the order in which its block takes them, as flash1.cu has them."""
    rows, columns = ceil_div(problem.seqlen_q, tile.q), ceil_div(problem.seqlen_k, tile.k)
    queries = [slice(i * tile.q, min((i + 1) * tile.q, problem.seqlen_q)) for i in range(rows)]
    keys = [slice(j * tile.k, min((j + 1) * tile.k, problem.seqlen_k)) for j in range(columns)]
    return [(i, j) for j in range(columns) for i in range(rows) if problem.mask.keeps(queries[i], keys[j])]


def pass_bars(problem: Problem, tile: TileSize, found: ClockedBlocks, multiprocessors: int) -> WarpBars:
    """The bars of all warps of flash1; a block of the timeline is a tile of keys that a head has passed."""
    tiles = passes(problem, tile)

    def told(head: int) -> ToldBlock:
        own = range(head * found.warps, (head + 1) * found.warps)
        return ToldBlock(head, NO_PLACE, [_bars(head, tiles, found, warp) for warp in own])

    return by_keys(warp_lanes(found, told, multiprocessors))


def _bars(head: int, tiles: list[tuple[int, int]], found: ClockedBlocks, warp: int) -> Nanoseconds64:
    """Those of one warp, each until the next one begins; one that has no tile stores what it has at once."""
    first, last, _ = block_ends(found, warp)
    count = len(STAGES)
    clocks = np.append(found.steps[warp, : len(tiles), :count].astype(np.int64).ravel(), last)
    if not tiles:
        return np.array([[STORE, head, NO_PLACE, NO_PLACE, first, last]], np.int64)
    clocks[0] = first  # what comes before the first step, the empty rows among it, is a part of its load
    places = np.repeat(np.array(tiles, np.int64), count, axis=0)
    heads = np.full(len(places), head, np.int64)
    return np.column_stack((np.tile(STAGES, len(tiles)), heads, places, clocks[:-1], clocks[1:]))


def by_keys(bars: WarpBars, group: int = 1) -> WarpBars:
    """The same with a block for each tile of keys of a lane, in the place of one for its whole life.

    Args:
        bars: In the order of lanes and times.
        group: So many query heads share a tile of keys; the block has the first one.
    """
    walked = np.column_stack((bars.lane, bars.tile[:, 0] // group * group, bars.tile[:, 2])).tolist()
    blocks: list[tuple[int, ...]] = []
    at = 0
    for (lane, head, j), own in groupby(walked):
        end = at + sum(1 for _ in own)
        blocks.append((lane, head, j, int(bars.begin[at]), int(bars.end[end - 1])))
        at = end
    found = np.array(blocks, np.int64).reshape(-1, 5)
    return bars._replace(
        block_lane=found[:, 0].astype(np.int32),
        block=found[:, 1:3].astype(np.int32),
        block_begin=found[:, 3],
        block_end=found[:, 4],
    )
