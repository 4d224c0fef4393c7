"""flash1, backward, on CUDA: one launch, a block a K/V head, which walks over its keys alone."""

import numpy as np

from kernels.cuda import flash2_backward
from kernels.cuda.backward import bind, mask_defines
from kernels.cuda.flash2_backward import PART_WIDTH
from kernels.cuda.program import Program, Stage, Target, ceil_div, choose, defines_of, shape_arguments
from kernels.cuda.sparse import kept_argument, kept_table
from kernels.launch import BackwardLaunch, Saved
from kernels.problem import Problem
from kernels.spec import KernelSpec
from kernels.workspace_backward import DQ_SUMS


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Compile for the current device, allocate the gradients and the sums of dQ, and bind them."""
    return bind(spec, problem, saved, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem on a target, cut as flash2's is."""
    cut = choose(
        flash2_backward.suitable(problem, "flash1"),
        lambda cut: flash2_backward.shared_bytes(problem, cut),
        target.shared_memory,
    )
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
        shared_bytes=flash2_backward.shared_bytes(problem, cut),
    )
    defines = {**defines_of(problem), **mask_defines(problem), **cut.defines}
    return Program("flash1_backward.cu", defines, (stage,), kept_table(problem))
