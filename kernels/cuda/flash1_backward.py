"""flash1, backward, on CUDA: one launch, a block a K/V head, which walks over its keys alone."""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace_backward import DQ_SUMS
from flashscope.kernels.cuda.backward import ROW_CUTS, STATE_BYTES, RowTiling, bind, mask_defines, suitable
from flashscope.kernels.cuda.program import (
    KernelLaunch,
    Program,
    Target,
    TileSize,
    ceil_div,
    choose_fitting,
    defines_of,
    shape_arguments,
)
from flashscope.kernels.cuda.sparse import kept_argument, kept_table
from flashscope.kernels.cuda.tensor import tile_bytes
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved

PART_WIDTH = 128  # columns of dK and dV that a block's registers hold


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Compile for the current device, allocate the gradients and the sums of dQ, and bind them."""
    return bind(spec, problem, saved, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem on a target, with the largest cut that fits it.

    Raises:
        InputError: No cut suits the block mask.
    """
    cuts = suitable("flash1", problem, ROW_CUTS, lambda cut: TileSize(cut.inner, cut.outer))
    cut = choose_fitting(cuts, lambda cut: shared_bytes(problem, cut), target.shared_memory)
    launch = KernelLaunch(
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
    return Program("flash1_backward.cu", defines, (launch,), kept_table(problem))


def shared_bytes(problem: Problem, cut: RowTiling) -> int:
    """Shared memory of a block: K and V, two stages of Q and dO, dS, and two stages of LSE and delta."""
    rows = tile_bytes(2 * cut.outer + 4 * cut.inner, problem.head_dim)
    return rows + tile_bytes(cut.outer, cut.inner) + 2 * cut.inner * STATE_BYTES
