"""From the clocks of flash1's backward pass to bars on lanes: a block passes queries by tiles of keys.

A warp computes S and dP of its own keys, P, its part of dV, dS and its part of dK, and leaves dS for the
others in shared memory; what a mask hides of P is hidden in dV's bar. When all of dS is there, it computes
its part of dQ and adds that to the sums in HBM. The second load of a step is of the next one: its Q and dO
are asked for, and delta is taken from dO and O, anew for every tile of keys. mma.sync is waited for where
its result is read, so that what a stage issues may end in the next one. Between bars a warp waits for the
others of its block. The last store is of dQ, from the sums.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from flashscope.kernels.cuda.clocked.key_blocks import key_blocks
from flashscope.kernels.cuda.clocked.key_tiles import KeyTile
from flashscope.kernels.cuda.clocked.passes import by_keys
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
from flashscope.kernels.workload.timeline import (
    ADD_DQ,
    DK,
    DOV,
    DQ,
    DS,
    DV,
    LOAD,
    NO_PLACE,
    QK,
    SOFTMAX,
    STORE,
)

CLOCKS = 16  # numbers of a row: flash1_clocks.cuh
CLOCK_BYTES = 4 * CLOCKS
STAGES = ((LOAD, 0), (LOAD, 1), (QK, 2), (DOV, 3), (SOFTMAX, 4), (DV, 5), (DS, 6), (DK, 7), (DS, 8))
BEHIND_ALL = ((DQ, 10), (ADD_DQ, 11))  # and the clock with which each of them begins
NEXT = 1  # the stage that is of the next step


def most_rows(problem: Problem, tile: TileSize) -> int:
    """As many rows of clocks as a block can have: one for each step, and one for each tile of keys."""
    steps = problem.heads // problem.key_heads * ceil_div(problem.seqlen_q, tile.q)
    return ceil_div(problem.seqlen_k, tile.k) * (steps + 1)


def most_bars(problem: Problem, tile: TileSize) -> int:
    """As many bars as one warp of each K/V head can have together."""
    tiles, heads = walks(problem, tile), problem.batch * problem.key_heads
    each = len(STAGES) + len(BEHIND_ALL)
    return sum(len(one.steps) for one in tiles) * each + len(tiles) + heads


def walks(problem: Problem, tile: TileSize) -> list[KeyTile]:
    """The tiles of keys, K/V head by K/V head, each in the order in which its block takes them."""
    return [*key_blocks(problem, tile, 1)]


def key_pass_bars(
    problem: Problem, cut: tuple[TileSize, int], found: ClockedBlocks, multiprocessors: int
) -> WarpBars:
    """The bars of all warps; a block of the timeline is a tile of keys that all its queries have passed.

    Args:
        problem: What was computed.
        cut: The tile, and how many blocks share the columns of a K/V head.
        found: What the launch recorded.
        multiprocessors: Of the GPU.
    """
    (tile, parts), per_head = cut, ceil_div(problem.seqlen_k, cut[0].k)
    tiles = walks(problem, tile)

    def told(block: int) -> ToldBlock:
        first = block // parts * per_head
        own, head = tiles[first : first + per_head], tiles[first].head
        warps = range(block * found.warps, (block + 1) * found.warps)
        return ToldBlock(head, NO_PLACE, [_bars(own, found, warp) for warp in warps])

    return by_keys(warp_lanes(found, told, multiprocessors), problem.heads // problem.key_heads)


def _bars(tiles: Sequence[KeyTile], found: ClockedBlocks, warp: int) -> Nanoseconds64:
    """Those of one warp in order: stage, head, i, j, begin and end."""
    ended, last, store = block_ends(found, warp)
    rows, told = found.steps[warp].astype(np.int64), []
    for one in tiles:
        count = len(one.steps)
        steps, (begun, stored) = rows[:count], rows[count, :2].tolist()
        if count:
            told.append(_steps(one, steps, ended))
        told.append(np.array([[STORE, one.head, NO_PLACE, one.j, begun if count else ended, stored]]))
        rows, ended = rows[count + 1 :], stored
    told.append(np.array([[STORE, tiles[0].head, NO_PLACE, NO_PLACE, store, last]]))
    return np.concatenate(told).astype(np.int64)


def _steps(tile: KeyTile, clocks: Any, ended: int) -> Nanoseconds64:
    """Those of a tile's steps; what comes before the first one, K and V among it, is a part of its load."""
    count, following = len(clocks), np.roll(tile.steps, -1, axis=0)
    columns = []
    for n, (stage, at) in enumerate((*STAGES, *BEHIND_ALL)):
        places = following if n == NEXT else tile.steps
        begin, end = clocks[:, at].copy(), clocks[:, at + 1]
        if n == 0:
            begin[0] = ended
        columns.append(np.column_stack((np.full(count, stage), places, np.full(count, tile.j), begin, end)))
    every = np.stack(columns, axis=1)  # step by step
    told = np.ones(every.shape[:2], bool)
    told[-1, NEXT] = False  # nothing is loaded behind the last one
    return every[told]
