"""flash2 on CUDA: one launch, one block a query tile; on the tensor cores in 16 bits, as simt in float32."""

import numpy as np

from flashscope.kernels.catalogue.flash2_cut import MIDDLE_HEAD, NARROW_HEAD, USUAL, Flash2Tile, hopper_tile
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda import simt
from flashscope.kernels.cuda.launch import bind
from flashscope.kernels.cuda.program import (
    HOPPER,
    KernelLaunch,
    Program,
    Target,
    ceil_div,
    choose_fitting,
    shape_arguments,
)
from flashscope.kernels.cuda.ragged import layout_arguments, layout_defines, length_tables
from flashscope.kernels.cuda.scoring import scoring_arguments, scoring_defines, slope_table
from flashscope.kernels.cuda.sparse import sparse_defines, sparse_tables
from flashscope.kernels.cuda.tensor import FRAGMENT_ROWS, TensorVariant, masked_variants, tile_bytes
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

WIDE = (
    TensorVariant(8, 1, 64),
    TensorVariant(8, 1, 32),
    TensorVariant(4, 1, 32),
    TensorVariant(4, 1, 16),
)  # by shared memory
SPILLING = {HOPPER: range(97, 121), (10, 0): range(97, 129)}
"""Head dims with which 64 keys a tile spill registers, where two such blocks would fit an SM."""


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O and LSE, and bind them."""
    return bind(spec, problem, inputs, program)


def cut(problem: Problem, target: Target) -> TensorVariant:
    """How a block's work is cut, in 16 bits.

    Raises:
        InputError: No cut suits the block mask.
    """
    return choose_fitting(
        masked_variants(problem, variants(problem, target), "flash2"),
        lambda variant: shared_bytes(problem, variant),
        target.shared_memory,
    )


def program(
    problem: Problem, target: Target, variant: TensorVariant | None = None, residents: int | None = None
) -> Program:
    """Source, defines and the launch for a problem on a target.

    Args:
        problem: What is computed.
        target: The GPU.
        variant: How a block's work is cut in 16 bits; None: as is best.
        residents: Blocks that are to share the registers of an SM; None: as is best.
    """
    if problem.dtype == "float32":
        return simt.program(problem, target)
    variant = variant or cut(problem, target)
    heads = problem.batch * problem.heads
    launch = KernelLaunch(
        "flash2",
        grid=heads * ceil_div(problem.seqlen_q, variant.tile_q),
        arguments=(
            *("q", "k", "v", "o", "lse"),
            np.int32(heads),
            *shape_arguments(problem),
            np.float32(problem.softmax_scale),
            *simt.sparse_arguments(problem),
            *layout_arguments(problem, problem.heads),
            *scoring_arguments(problem),
        ),
        threads=variant.threads,
        shared_bytes=shared_bytes(problem, variant),
    )
    defines = {
        **variant.defines(problem),
        **sparse_defines(problem, variant.tile),
        **layout_defines(problem),
        **scoring_defines(problem),
        "Q_IN_REGISTERS": int(problem.widest_dim <= NARROW_HEAD),
        "BLOCKS_PER_SM": residents or blocks_per_sm(problem),
    }
    tables = {**sparse_tables(problem, variant.tile), **length_tables(problem), **slope_table(problem)}
    return Program("flash2.cu", defines, (launch,), tables)


def variants(problem: Problem, target: Target) -> tuple[TensorVariant, ...]:
    """Cuts that spill no registers, best first; the first that fits is taken."""
    if problem.widest_dim > MIDDLE_HEAD:
        return WIDE
    tile = hopper_tile(problem) if target.compute_capability == HOPPER else USUAL
    best = variant_of(tile)
    if problem.widest_dim > NARROW_HEAD:
        terms = problem.softcap is not None or problem.alibi
        spilling = SPILLING.get(target.compute_capability, range(MIDDLE_HEAD + 1))
        spills = terms or problem.widest_dim in spilling or (problem.window is not None and not problem.even)
        few = (TensorVariant(4, 2, 32),)
        return few if (tile == USUAL and spills) or tile.keys < USUAL.keys else (best, *few)
    return (best,)


def variant_of(tile: Flash2Tile) -> TensorVariant:
    """The cut of a block whose warps share a tile's rows out."""
    return TensorVariant(tile.warps, tile.rows // tile.warps // FRAGMENT_ROWS, tile.keys)


def blocks_per_sm(problem: Problem) -> int:
    """Blocks that share the registers of an SM."""
    return 2 if problem.widest_dim <= MIDDLE_HEAD else 1


def shared_bytes(problem: Problem, variant: TensorVariant) -> int:
    """Shared memory of a block: Q, and two stages of K and V; O takes their place at the end."""
    keys = 2 * variant.block_k
    held = tile_bytes(variant.tile_q + keys, problem.head_dim) + tile_bytes(keys, problem.value_dim)
    return max(held, tile_bytes(variant.tile_q, problem.value_dim))
