"""flash1, backward, on CUDA: one launch, a block a K/V head, which walks over its keys alone."""

from typing import NamedTuple

import numpy as np

from kernels.cuda.backward import bind, mask_defines
from kernels.cuda.program import Program, Stage, Target, Tile, ceil_div, choose, defines_of, shape_arguments
from kernels.cuda.sparse import block_text, divides, kept_argument, kept_table
from kernels.cuda.tensor import FRAGMENT_ROWS, tile_bytes
from kernels.errors import InputError
from kernels.launch import BackwardLaunch, Saved
from kernels.problem import Problem
from kernels.spec import KernelSpec
from kernels.workspace_backward import DQ_SUMS

STATE_BYTES = 8  # LSE and delta of a query


class Cut(NamedTuple):
    """How one block is cut.

    Attributes:
        warps: Warps of a block.
        inner: Queries that pass by at a time.
    """

    warps: int
    inner: int

    @property
    def outer(self) -> int:
        """Keys that a block keeps, at a time."""
        return self.warps * FRAGMENT_ROWS

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * 32

    @property
    def defines(self) -> dict[str, int]:
        """The defines of a kernel cut like this."""
        return {"WARPS": self.warps, "INNER": self.inner}


# (widest head, cut), best first; the small ones at the end suit block masks.
CUTS = (
    (64, Cut(8, 64)),
    (256, Cut(8, 32)),
    (256, Cut(4, 32)),
    (256, Cut(4, 16)),
    (256, Cut(2, 32)),
    (256, Cut(2, 16)),
    (256, Cut(1, 16)),
)
PART_WIDTH = 128  # columns of dK and dV that a block's registers hold


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Compile for the current device, allocate the gradients and the sums of dQ, and bind them."""
    return bind(spec, problem, saved, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem on a target, with the largest cut that fits it.

    Raises:
        InputError: No cut suits the block mask.
    """
    cuts = [
        cut
        for widest, cut in CUTS
        if problem.head_dim <= widest and divides(problem, Tile(cut.inner, cut.outer))
    ]
    if not cuts:
        raise InputError(
            f"flash1's backward pass takes block masks whose blocks are multiples of {FRAGMENT_ROWS} long, "
            f"not {block_text(problem)}."
        )
    cut = choose(cuts, lambda cut: shared_bytes(problem, cut), target.shared_memory)
    stage = Stage(
        "flash1_backward",
        grid=problem.batch * problem.key_heads * ceil_div(problem.head_dim, PART_WIDTH),
        arguments=(
            *("q", "k", "v", "output", "grad_output", "lse", DQ_SUMS, "dq", "dk", "dv"),
            *shape_arguments(problem),
            np.float32(problem.softmax_scale),
            kept_argument(problem),
        ),
        threads=cut.threads,
        shared_bytes=shared_bytes(problem, cut),
    )
    defines = {**defines_of(problem), **mask_defines(problem), **cut.defines}
    return Program("flash1_backward.cu", defines, (stage,), kept_table(problem))


def shared_bytes(problem: Problem, cut: Cut) -> int:
    """Shared memory of a block: K and V, two stages of Q and dO, dS, and two stages of LSE and delta."""
    rows = tile_bytes(2 * cut.outer + 4 * cut.inner, problem.head_dim)
    return rows + tile_bytes(cut.outer, cut.inner) + 2 * cut.inner * STATE_BYTES
