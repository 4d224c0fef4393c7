"""From the clocks of flash2's backward pass to bars on lanes: a lane for each warp.

A warp computes dP and S of its own queries, P, its part of dV, dS and its part of dK, of all at once or in
halves; then, where a group of warps shares the columns, what the others' P and dS add to both; and at last
its part of dQ, which it adds to the sums in memory. A stage ends where the next one's first operands are
there, and mma.sync is waited for where its result is read, so that what a stage issues may end in the next
one. Between bars a warp waits for the others of its block.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from flashscope.kernels.cuda.clocked.key_tiles import KeyTile
from flashscope.kernels.cuda.clocks import ClockedBlocks, ToldBlock, WarpBars, warp_lanes
from flashscope.kernels.cuda.flash2_backward import KeyTiling
from flashscope.kernels.cuda.program import TileSize, ceil_div
from flashscope.kernels.cuda.tensor import FRAGMENT_ROWS
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

CLOCKS = 20  # of a step, as flash2_backward_clocks.cuh has them
OF_HALF = DOV, QK, SOFTMAX, DV, DS, DK
ALL = 14  # the clock behind the barrier
OTHERS = (DV, DK, DQ, ADD_DQ)
AT_ONCE = 64  # own queries times fragments of keys that a warp takes at most


def key_blocks(problem: Problem, tile: TileSize, together: int) -> Iterator[KeyTile]:
    """All blocks by their numbers, as flash2_backward_walk.cuh has them.

    Args:
        problem: What is computed.
        tile: Queries and keys of a tile.
        together: K/V heads whose blocks are taken together.
    """
    tiles, group = ceil_div(problem.seqlen_k, tile.k), problem.heads // problem.key_heads
    kv_heads = problem.batch * problem.key_heads
    seen = [_seen(problem, tile, j) for j in range(tiles)]
    for block in range(kv_heads * tiles):
        section = block // (together * tiles) * together
        j, kv_head = divmod(block - section * tiles, min(together, kv_heads - section))
        head = (section + kv_head) * group
        steps = [(of_group, i) for of_group in range(head, head + group) for i in seen[j]]
        yield KeyTile(head, j, np.array(steps, np.int64).reshape(-1, 2))


def _seen(problem: Problem, tile: TileSize, j: int) -> list[int]:
    """The tiles of queries that see one of these keys."""
    first, last, band = j * tile.k, problem.seqlen_q - 1, problem.mask.band
    return [
        i
        for i in range(ceil_div(problem.seqlen_q, tile.q))
        if band(min((i + 1) * tile.q - 1, last)).stop > first and band(i * tile.q).start < first + tile.k
    ]


def bars_of_a_step(cut: KeyTiling, *, deterministic: bool) -> int:
    """As many bars as a warp can have of a step."""
    share = cut.queries // min(cut.column_warps, cut.queries // FRAGMENT_ROWS)
    halves = ceil_div(share * cut.subtiles, AT_ONCE)
    return 1 + halves * len(OF_HALF) + 2 * (cut.column_warps > 1) + 2 * (not deterministic)


def most_steps(problem: Problem, tile: TileSize) -> int:
    """As many steps as a block can have."""
    return problem.heads // problem.key_heads * ceil_div(problem.seqlen_q, tile.q)


def key_block_bars(
    problem: Problem, cut: tuple[TileSize, int], found: ClockedBlocks, multiprocessors: int
) -> WarpBars:
    """The bars of all warps.

    Args:
        problem: What was computed.
        cut: The tile, and how many K/V heads are taken together.
        found: What the launch recorded.
        multiprocessors: Of the GPU.
    """
    blocks = [*key_blocks(problem, *cut)]

    def told(block: int) -> ToldBlock:
        first, one = block * found.warps, blocks[block]
        bars = [_bars(one, found.steps[warp], found.ends[warp]) for warp in range(first, first + found.warps)]
        return ToldBlock(one.head, one.j, bars)

    return warp_lanes(found, told, multiprocessors)


def _bars(block: KeyTile, steps: Any, ends: Any) -> npt.NDArray[np.int64]:
    """The bars of one warp in order: stage, head, i, j, begin and end."""
    first, last, store = ends.view(np.uint32)[4:7].tolist()
    clocks = steps[: len(block.steps)].astype(np.int64)
    told = [(LOAD, clocks[:, 0], clocks[:, 1])]
    for begun, stages in ((1, 2 * OF_HALF), (ALL, OTHERS)):
        before = clocks[:, begun]
        for n, stage in enumerate(stages, begun + 1):
            told.append((stage, before, clocks[:, n]))
            before = np.where(clocks[:, n], clocks[:, n], before)
    if len(clocks):
        told[0][1][0] = first  # what comes before the first step is a part of its load
    columns = [
        np.column_stack((np.full(len(begin), stage), block.steps, np.full(len(begin), block.j), begin, end))
        for stage, begin, end in told
    ]
    every = np.stack(columns, axis=1).reshape(-1, 6)  # step by step
    end = [[STORE, block.head, NO_PLACE, block.j, store, last]]
    return np.concatenate((every[(every[:, 4] != 0) & (every[:, 5] != 0)], end)).astype(np.int64)
