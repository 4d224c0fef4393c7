"""What the kernels on the tensor cores share: the cut of a block's work, and the size of its tiles."""

from typing import NamedTuple

from kernels.cuda.program import Tile, defines_of, round_up
from kernels.problem import Problem

ELEMENT = 2  # bytes
SWIZZLE_WIDTH = 64  # elements: shared rows are whole groups of eight 16-byte chunks, copy.cuh
FRAGMENT_ROWS = 16  # of one mma


class Variant(NamedTuple):
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
    def tile(self) -> Tile:
        """Br and Bc."""
        return Tile(self.tile_q, self.block_k)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * 32

    def defines(self, problem: Problem) -> dict[str, int]:
        """The defines of a kernel cut like this."""
        cut = {"WARPS": self.warps, "SUBTILES": self.subtiles, "BLOCK_K": self.block_k}
        return {**defines_of(problem), **cut}


def tile_bytes(rows: int, width: int) -> int:
    """Shared memory of a tile of 16-bit elements."""
    return rows * round_up(width, SWIZZLE_WIDTH) * ELEMENT
