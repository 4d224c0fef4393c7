"""A block mask as flash3 takes it: for each tile of queries, the fewest key tiles that cover the kept keys.

A key tile begins where a kept key is due, so tiles need not be multiples of blocks, nor blocks of tiles. A
tile with a pair that any mask drops is listed apart: the kernel masks it, by causal and window as ever, and
by a bit for every 8 keys (`UNIT`) of each row of blocks. Rows of blocks may be of any height.
"""

from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.workspace import KEPT_KEYS, KEY_TILES, QUERY_TILES, TILE_ORDER, flash3_step
from flashscope.kernels.cuda.program import TileSize, ceil_div
from flashscope.kernels.cuda.sparse import in_band
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem

UNIT = 8  # keys that a bit of the kernel's masks stands for
MASKED_COST = 1.25  # time of a key tile with a mask, in that of one without (H200)
LONG = 2  # times as many key tiles as the mean: drawn first
UNEVEN, LAST_SHARE = 0.2, 0.15  # from this spread on, in means, so many of the tiles are left for the end


class Cover(NamedTuple):
    """Key tiles of one tile of queries, by their first keys: those without a mask, and the others."""

    whole: list[int]
    masked: list[int]

    @property
    def steps(self) -> int:
        """How many they are."""
        return len(self.whole) + len(self.masked)

    @property
    def cost(self) -> float:
        """Their time, in that of one without a mask."""
        return len(self.whole) + MASKED_COST * len(self.masked)


def covers(problem: Problem, blocks: BlockMask, tile: TileSize) -> list[Cover]:
    """The key tiles of every tile of queries; no kept key lies in two of them.

    Raises:
        InputError: Several columns of blocks that are not multiples of 8 keys wide: no bits describe them.
    """
    if blocks.shape[1] > 1 and blocks.block_k % UNIT:
        raise InputError(
            f"flash3 takes block masks whose blocks are multiples of {UNIT} keys wide, not "
            f"{blocks.block_q} x {blocks.block_k}."
        )
    kept = blocks.array() & in_band(problem, TileSize(blocks.block_q, blocks.block_k))
    return [
        _cover(problem, blocks, kept, range(first, min(first + tile.q, problem.seqlen_q)), tile.k)
        for first in range(0, problem.seqlen_q, tile.q)
    ]


def _cover(problem: Problem, blocks: BlockMask, kept: Any, rows: range, width: int) -> Cover:
    """From left to right, each tile where the first kept unit of keys is that has none yet."""
    touched = kept[rows[0] // blocks.block_q : rows[-1] // blocks.block_q + 1]
    block_of = _block_of_unit(problem, blocks)
    first, last = problem.mask.band(rows[0]), problem.mask.band(rows[-1])
    inside = slice(first.start // UNIT, ceil_div(last.stop, UNIT))
    due = (inside.start + np.flatnonzero(touched.any(axis=0)[block_of[inside]])).tolist()
    # Sums of the units that are kept for all rows of blocks, to tell at once whether a stretch is.
    everywhere = np.concatenate(([0], np.cumsum(touched.all(axis=0)[block_of]))).tolist()
    cover, at = Cover([], []), 0
    while at < len(due):
        key, end = due[at] * UNIT, due[at] + width // UNIT
        whole = (
            key + width <= min(problem.seqlen_k, first.stop)
            and key >= last.start
            and everywhere[end] - everywhere[due[at]] == width // UNIT
        )
        (cover.whole if whole else cover.masked).append(key)
        at = bisect_left(due, end, at)
    return cover


def _block_of_unit(problem: Problem, blocks: BlockMask) -> Any:
    """The column of blocks in which each unit of keys lies."""
    return np.arange(ceil_div(problem.seqlen_k, UNIT)) * UNIT // blocks.block_k


def tables_of(
    problem: Problem, blocks: BlockMask, tile: TileSize, found: list[Cover], splits: int = 1
) -> dict[str, Any]:
    """What the kernel reads, see `Tables` in flash3_blocks.cuh: of a tile's size, and the covers for it."""
    tables = {b.name: np.zeros(b.shape, np.int32) for b in flash3_step(problem, "cuda")[1:]}
    order = _order(np.array([cover.steps for cover in found]), problem.batch * problem.heads * splits)
    tables[TILE_ORDER] = np.zeros((splits * len(tables[TILE_ORDER]), 2), np.int32)
    tables[TILE_ORDER][: len(order)] = order
    for i, cover in enumerate(found):
        tables[QUERY_TILES][i] = i * tile.q, len(cover.whole), cover.steps, i * tables[KEY_TILES].shape[1]
        tables[KEY_TILES][i, : cover.steps] = cover.whole + cover.masked
    bits = tables[KEPT_KEYS].view(np.uint8)
    block_of = _block_of_unit(problem, blocks)
    for row, kept in zip(bits, blocks.array(), strict=True):
        row[: ceil_div(len(block_of), 8)] = np.packbits(kept[block_of], bitorder="little")
    return tables


def _order(steps: Any, heads: int) -> Any:
    """In which order blocks draw the tiles of all heads, int (tiles, 2): head, and which tile of queries.

    The longest of all heads first, so that none is left for the end; then head by head, as the L2 holds the K
    and V of few; and where tiles are uneven the shortest of all heads, to end together.
    """
    longest_first = np.argsort(-steps, kind="stable")
    rank, head = (axis.ravel() for axis in np.mgrid[: len(steps), :heads])
    tile = longest_first[rank]
    at_the_end = (rank >= (1 - LAST_SHARE) * len(steps)) & (steps.std() > UNEVEN * steps.mean())
    phase = np.where(steps[tile] > LONG * steps.mean(), 0, np.where(at_the_end, 2, 1))
    order = np.lexsort((head, rank, np.where(phase == 1, head, 0), phase))
    return np.stack([head, tile], axis=1)[order]
