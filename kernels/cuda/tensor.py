"""What the kernels on the tensor cores share: the cut of a block's work, and the size of its tiles."""

from collections.abc import Iterable
from typing import NamedTuple

from flashscope.kernels.cuda.program import TileSize, defines_of, round_up
from flashscope.kernels.cuda.sparse import block_text, divides
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem

ELEMENT = 2  # bytes
SWIZZLE_WIDTH = 64  # elements: shared rows are whole groups of eight 16-byte chunks, copy.cuh
FRAGMENT_ROWS = 16  # of one mma
MIDDLE_HEAD = 128  # up to it a warp's registers hold O of two fragments


class TensorVariant(NamedTuple):
    """How one block is cut.

    Attributes:
        warps: Warps of a block.
        subtiles: Fragments of 16 query rows in a warp.
        block_k: Keys of a tile, Bc.
    """

    warps: int
    subtiles: int
    block_k: int

    @property
    def tile_q(self) -> int:
        """Query rows of a tile, Br."""
        return self.warps * self.subtiles * FRAGMENT_ROWS

    @property
    def tile(self) -> TileSize:
        """Br and Bc."""
        return TileSize(self.tile_q, self.block_k)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * 32

    def defines(self, problem: Problem) -> dict[str, int]:
        """The defines of a kernel cut like this."""
        cut = {"WARPS": self.warps, "SUBTILES": self.subtiles, "BLOCK_K": self.block_k}
        return {**defines_of(problem), **cut}


def masked_variants(
    problem: Problem, table: Iterable[TensorVariant], kernel: str
) -> tuple[TensorVariant, ...]:
    """Those that suit the block mask, if there is one: their tiles never lie in two of its blocks.

    Raises:
        InputError: There is none; the text names the kernel.
    """
    if problem.block_mask is None:
        return tuple(table)
    widest = (4, 2) if problem.widest_dim <= MIDDLE_HEAD else (8, 1)
    cuts = ((*cut, keys) for cut in (widest, (4, 1), (2, 1), (1, 1)) for keys in (32, 16))
    smaller = (TensorVariant(*cut) for cut in (*((w, 1, 64) for w in (4, 2, 1)), *cuts))
    fitting = tuple(variant for variant in (*table, *smaller) if divides(problem, variant.tile))
    if not fitting:
        raise InputError(
            f"{kernel} takes block masks whose blocks are multiples of {FRAGMENT_ROWS} long in "
            f"{problem.dtype}, not {block_text(problem)}."
        )
    return fitting


def tile_bytes(rows: int, width: int) -> int:
    """Shared memory of a tile of 16-bit elements."""
    return rows * round_up(width, SWIZZLE_WIDTH) * ELEMENT
