"""A block mask as flash3's backward pass takes it: for each tile of keys the tiles of queries that see it.

A pair of tiles that keeps no pair of a query and a key is left out. Where the block mask drops some of its
pairs the kernel hides them, by a bit for every 8 queries (`UNIT`) of each column of blocks; what causal and
window drop it hides as ever. Columns of blocks may be of any width.
"""

from typing import Any

import numpy as np

from flashscope.kernels.catalogue.workspace import KEY_TILES, QUERY_TILES
from flashscope.kernels.catalogue.workspace_backward import FLASH3_WORD, KEPT_QUERIES
from flashscope.kernels.cuda.program import TileSize, ceil_div
from flashscope.kernels.cuda.sparse import block_text, in_band
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem

UNIT = 8  # queries that a bit of the kernel's masks stands for


def tables_of(problem: Problem, tile: TileSize) -> dict[str, Any]:
    """What the kernel reads, see `Tables` in flash3_backward_blocks.cuh; nothing without a block mask.

    Tiles of keys that most tiles of queries see are drawn first. Each goes through its list from the end of
    the sequence to its beginning, as without a block mask where every run is to give the same bits.

    Raises:
        InputError: Several rows of blocks that are not multiples of 8 queries high: no bits describe them.
    """
    blocks = problem.block_mask
    if blocks is None:
        return {}
    if blocks.shape[0] > 1 and blocks.block_q % UNIT:
        raise InputError(
            f"flash3's backward pass takes block masks whose blocks are multiples of {UNIT} queries high, "
            f"not {block_text(problem)}."
        )
    seen, whole = _pairs(problem, blocks, tile)
    order = np.argsort(-seen.sum(axis=1), kind="stable")
    seen, whole = seen[order], whole[order]
    before = np.cumsum(seen, axis=0) - seen  # tiles of keys drawn before
    queries = seen.shape[1] - 1 - np.argsort(~seen[:, ::-1], axis=1, kind="stable")
    masked, before = (np.take_along_axis(table, queries, axis=1) for table in (~whole, before))
    return {
        KEY_TILES: np.stack([order * tile.k, seen.sum(axis=1)], axis=1).astype(np.int32),
        QUERY_TILES: np.stack([2 * queries + masked, before], axis=2).astype(np.int32),
        KEPT_QUERIES: _bits(problem, blocks),
    }


def _pairs(problem: Problem, blocks: BlockMask, tile: TileSize) -> tuple[Any, Any]:
    """Pairs of tiles that keep something, and those of kept blocks alone, bool (key tiles, query tiles)."""
    kept = blocks.array()
    inside = kept & in_band(problem, TileSize(blocks.block_q, blocks.block_k))
    rows = _covered(problem.seqlen_q, tile.q, blocks.block_q)
    columns = _covered(problem.seqlen_k, tile.k, blocks.block_k)
    seen = (_counted(inside, rows, columns) > 0) & in_band(problem, tile)
    whole = _counted(~kept, rows, columns) == 0
    return seen.T, whole.T


def _covered(length: int, tile: int, block: int) -> tuple[Any, Any]:
    """The first block in which each tile lies, and the one behind its last."""
    first = np.arange(0, length, tile)
    return first // block, (np.minimum(first + tile, length) - 1) // block + 1


def _counted(chosen: Any, rows: tuple[Any, Any], columns: tuple[Any, Any]) -> Any:
    """How many of the chosen blocks lie in each pair of a range of rows and one of columns."""
    sums = np.zeros((chosen.shape[0] + 1, chosen.shape[1] + 1), np.int64)
    chosen.cumsum(axis=0).cumsum(axis=1, out=sums[1:, 1:])
    upto = sums[rows[1]] - sums[rows[0]]
    return upto[:, columns[1]] - upto[:, columns[0]]


def _bits(problem: Problem, blocks: BlockMask) -> Any:
    """For each column of blocks whether each 8 queries are kept, as int32 (columns, words)."""
    words = np.zeros((blocks.shape[1], ceil_div(problem.seqlen_q, FLASH3_WORD)), np.int32)
    row_of_unit = np.arange(ceil_div(problem.seqlen_q, UNIT)) * UNIT // blocks.block_q
    for bits, kept in zip(words.view(np.uint8), blocks.array().T, strict=True):
        bits[: ceil_div(len(row_of_unit), 8)] = np.packbits(kept[row_of_unit], bitorder="little")
    return words
