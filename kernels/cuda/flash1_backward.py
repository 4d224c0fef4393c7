"""flash1, backward, on CUDA: one launch, a block a K/V head, which walks over its keys alone."""

import numpy as np

from kernels.cuda.backward import ROW_CUTS, STATE_BYTES, RowCut, bind, mask_defines, suitable
from kernels.cuda.program import Program, Stage, Target, Tile, ceil_div, choose, defines_of, shape_arguments
from kernels.cuda.sparse import kept_argument, kept_table
from kernels.cuda.tensor import tile_bytes
from kernels.launch import BackwardLaunch, Saved
from kernels.problem import Problem
from kernels.spec import KernelSpec
from kernels.workspace_backward import DQ_SUMS

PART_WIDTH = 128  # columns of dK and dV that a block's registers hold


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Compile for the current device, allocate the gradients and the sums of dQ, and bind them."""
    return bind(spec, problem, saved, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem on a target, with the largest cut that fits it.

    Raises:
        InputError: No cut suits the block mask.
    """
    cuts = suitable("flash1", problem, ROW_CUTS, lambda cut: Tile(cut.inner, cut.outer))
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
    defines = {**defines_of(problem), **mask_defines(problem), "WARPS": cut.warps, "INNER": cut.inner}
    return Program("flash1_backward.cu", defines, (stage,), kept_table(problem))


def shared_bytes(problem: Problem, cut: RowCut) -> int:
    """Shared memory of a block: K and V, two stages of Q and dO, dS, and two stages of LSE and delta."""
    rows = tile_bytes(2 * cut.outer + 4 * cut.inner, problem.head_dim)
    return rows + tile_bytes(cut.outer, cut.inner) + 2 * cut.inner * STATE_BYTES
