"""The arithmetic units a kernel is compiled for, and how much shared memory its tiles take there."""

from typing import NamedTuple

from kernels.cuda.program import Target, Tile, round_up
from kernels.problem import Problem


class Units(NamedTuple):
    """Numbers of simt.cuh or tensor.cuh that the launch must agree with.

    Attributes:
        tensor_cores: Whether the products run on them.
        itemsize: Bytes of an element in shared memory.
        pad: Elements between two shared rows.
        depth_step: A product's depth is padded to a multiple of it.
        output_step: The columns of O are padded to a multiple of it.
        tile_step: Rows and columns of a tile are multiples of these.
        shares_k_and_p: Whether flash2's probabilities take the place of K.
    """

    tensor_cores: bool
    itemsize: int
    pad: int
    depth_step: int
    output_step: int
    tile_step: Tile
    shares_k_and_p: bool

    def row_bytes(self, width: int, step: int, rows: int) -> int:
        """Rows of a width that is padded to a multiple of `step`."""
        return rows * (round_up(width, step) + self.pad) * self.itemsize

    def q_bytes(self, problem: Problem, rows: int) -> int:
        """A tile of Q or K."""
        return self.row_bytes(problem.head_dim, self.depth_step, rows)

    def v_bytes(self, problem: Problem, rows: int) -> int:
        """A tile of V."""
        return self.row_bytes(problem.head_dim, self.output_step, rows)

    def p_bytes(self, tile: Tile) -> int:
        """A tile of P."""
        return tile.q * (tile.k + self.pad) * self.itemsize


SIMT = Units(
    tensor_cores=False,
    itemsize=4,
    pad=4,
    depth_step=4,
    output_step=32,
    tile_step=Tile(16, 8),
    shares_k_and_p=True,
)
TENSOR = Units(
    tensor_cores=True,
    itemsize=2,
    pad=8,
    depth_step=16,
    output_step=16,
    tile_step=Tile(64, 16),
    shares_k_and_p=False,
)


def units_for(problem: Problem, target: Target) -> Units:
    """16-bit products run on the tensor cores, from sm_80 on; float32 is exact and stays on the FMA units."""
    return TENSOR if problem.itemsize == TENSOR.itemsize and target.compute_capability >= (8, 0) else SIMT
