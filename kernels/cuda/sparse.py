"""A block mask as the kernels take it: for each row of blocks the kept ones, and how many tiles that makes.

Tables are as coarse as the mask, so their size does not depend on the tiles that a GPU gets.
"""

from typing import Any

import numpy as np

from flashscope.kernels.cuda.program import (
    BLOCK_LISTS,
    KEPT_BLOCKS,
    NO_POINTER,
    STEP_COUNTS,
    TileSize,
    ceil_div,
)
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem


def divides(problem: Problem, tile: TileSize) -> bool:
    """Whether a tile never lies in two blocks of the problem's block mask, of which there may be none."""
    blocks = problem.block_mask
    if blocks is None:
        return True
    rows, columns = blocks.shape
    return (rows == 1 or blocks.block_q % tile.q == 0) and (columns == 1 or blocks.block_k % tile.k == 0)


def block_text(problem: Problem) -> str:
    """The block mask's blocks, for a reader."""
    blocks = problem.block_mask
    return "none" if blocks is None else f"{blocks.block_q} x {blocks.block_k}"


def sparse_defines(problem: Problem, tile: TileSize) -> dict[str, int]:
    """Tiles along each side of a block."""
    if problem.block_mask is None:
        return {}
    rows, columns = _tiles_per_block(problem, problem.block_mask, tile)
    return {"TILES_PER_BLOCK_Q": rows, "TILES_PER_BLOCK_K": columns}


def sparse_tables(problem: Problem, tile: TileSize) -> dict[str, Any]:
    """For each row of blocks the kept blocks in rising order, and its steps: tiles of keys that exist."""
    blocks = problem.block_mask
    if blocks is None:
        return {}
    kept = blocks.array() & in_band(problem, TileSize(blocks.block_q, blocks.block_k))
    per_block = _tiles_per_block(problem, blocks, tile)[1]
    counts = kept.sum(axis=1)
    missing = per_block * blocks.shape[1] - ceil_div(problem.seqlen_k, tile.k)  # of the last block, cut off
    return {
        BLOCK_LISTS: np.argsort(~kept, axis=1, kind="stable").astype(np.int32),
        STEP_COUNTS: (counts * per_block - kept[:, -1] * missing).astype(np.int32),
    }


def kept_table(problem: Problem) -> dict[str, Any]:
    """Whether each block is kept, for kernels that ask in an order of their own."""
    blocks = problem.block_mask
    return {} if blocks is None else {KEPT_BLOCKS: blocks.array().astype(np.int32)}


def kept_argument(problem: Problem) -> Any:
    """That table by name; a null pointer without a block mask."""
    return NO_POINTER if problem.block_mask is None else KEPT_BLOCKS


def _tiles_per_block(problem: Problem, blocks: BlockMask, tile: TileSize) -> tuple[int, int]:
    """Tiles along each side of a block; a side that holds the whole sequence has those of the sequence."""
    sides = zip(
        blocks.shape,
        (blocks.block_q, blocks.block_k),
        (problem.seqlen_q, problem.seqlen_k),
        tile,
        strict=True,
    )
    rows, columns = (ceil_div(min(block, length), step) for _, block, length, step in sides)
    return rows, columns


def in_band(problem: Problem, tile: TileSize) -> Any:
    """Tiles, or blocks of a block mask, with a pair that causal and window keep, bool (queries, keys)."""
    mask = problem.mask
    first_q = np.arange(0, problem.seqlen_q, tile.q)[:, None]
    first_k = np.arange(0, problem.seqlen_k, tile.k)[None, :]
    last_q = np.minimum(first_q + tile.q, problem.seqlen_q) - 1
    last_k = np.minimum(first_k + tile.k, problem.seqlen_k) - 1
    return (first_k - last_q <= mask.highest) & (last_k - first_q >= mask.lowest)
