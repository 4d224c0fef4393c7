"""flash1 on CUDA: one block a head, then one launch that rounds O to the element type and finishes LSE."""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace import RUNNING_O
from flashscope.kernels.cuda import simt_flash1
from flashscope.kernels.cuda.launch import bind
from flashscope.kernels.cuda.program import (
    KernelLaunch,
    Program,
    Target,
    ceil_div,
    choose_fitting,
    shape_arguments,
)
from flashscope.kernels.cuda.sparse import kept_argument, kept_table, sparse_defines
from flashscope.kernels.cuda.tensor import TensorVariant, masked_variants, tile_bytes
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

# (widest head, cut), best first: as many warps as fit, since one block a head must hide all latency.
VARIANTS = (
    (128, TensorVariant(16, 1, 128)),
    (128, TensorVariant(16, 1, 64)),
    (128, TensorVariant(8, 1, 64)),
    (128, TensorVariant(4, 1, 64)),
    (256, TensorVariant(8, 1, 32)),
    (256, TensorVariant(4, 1, 32)),
    (256, TensorVariant(2, 1, 32)),
)
FINISH_THREADS = 256


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O, LSE, m, l and for 16 bits a float32 O, and bind them."""
    return bind(spec, problem, inputs, program)


def cut(problem: Problem, target: Target) -> TensorVariant:
    """How a block's work is cut, in 16 bits: the largest that fits the target.

    Raises:
        InputError: No cut suits the block mask.
    """
    table = (variant for widest, variant in VARIANTS if problem.head_dim <= widest)
    return choose_fitting(
        masked_variants(problem, table, "flash1"),
        lambda variant: shared_bytes(problem, variant),
        target.shared_memory,
    )


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the two launches for a problem on a target, with the largest cut that fits it."""
    if problem.dtype == "float32":
        return simt_flash1.program(problem, target)
    variant = cut(problem, target)
    pass_all = KernelLaunch(
        "flash1",
        grid=problem.batch * problem.heads,
        arguments=(
            *("q", "k", "v", RUNNING_O, "m", "l"),
            *shape_arguments(problem),
            np.float32(problem.softmax_scale),
            kept_argument(problem),
        ),
        threads=variant.threads,
        shared_bytes=shared_bytes(problem, variant),
    )
    finish = KernelLaunch(
        "flash1_finish",
        grid=ceil_div(problem.rows * problem.head_dim // 8, FINISH_THREADS),
        arguments=(RUNNING_O, "m", "l", "o", "lse", np.int64(problem.rows)),
        threads=FINISH_THREADS,
    )
    defines = {**variant.defines(problem), **sparse_defines(problem, variant.tile)}
    return Program("flash1.cu", defines, (pass_all, finish), kept_table(problem))


def shared_bytes(problem: Problem, variant: TensorVariant) -> int:
    """Shared memory of a block: two stages of Q, and K and V."""
    return tile_bytes(2 * variant.tile_q + 2 * variant.block_k, problem.head_dim)
