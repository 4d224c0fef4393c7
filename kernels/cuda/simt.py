"""simt on CUDA: flash2's loop order on the FMA units, one launch, one block a query tile."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.launch import bind
from flashscope.kernels.cuda.program import (
    BLOCK_LISTS,
    NO_POINTER,
    STEP_COUNTS,
    KernelLaunch,
    Program,
    Target,
    TileSize,
    ceil_div,
    choose_fitting,
    exponent_factor,
    shape_arguments,
)
from flashscope.kernels.cuda.ragged import layout_arguments, layout_defines, length_tables
from flashscope.kernels.cuda.simt_layout import (
    THREADS,
    TILE_STEP,
    UNTRACED,
    row_bytes,
    simt_defines,
    tiles_for,
    v_bytes,
)
from flashscope.kernels.cuda.sparse import block_text, divides, sparse_defines, sparse_tables
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O and LSE, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem on a target, with the largest tile that fits it well."""
    tile = choose_fitting(
        masked_tiles(problem, tiles_for(problem)),
        lambda tile: shared_bytes(problem, tile),
        target.shared_memory,
        blocks_per_sm=2,
    )
    return build(problem, tile, block=tile)


def masked_tiles(problem: Problem, table: Iterable[TileSize]) -> list[TileSize]:
    """Tiles of a table, or smaller, that never lie in two blocks of the block mask, best first.

    Raises:
        InputError: There is none.
    """
    small = (TileSize(q, k) for q in (64, 32, 16) for k in (32, 16, 8))
    fitting = [tile for tile in (*table, *small) if divides(problem, tile)]
    if not fitting:
        raise InputError(
            f"The FMA units take block masks whose blocks are multiples of {TILE_STEP.q} x {TILE_STEP.k}, "
            f"not {block_text(problem)}."
        )
    return fitting


def sparse_arguments(problem: Problem) -> tuple[Any, Any]:
    """The tables of the block mask, by name; null pointers without one."""
    return (NO_POINTER, NO_POINTER) if problem.block_mask is None else (BLOCK_LISTS, STEP_COUNTS)


def build(problem: Problem, tile: TileSize, block: TileSize) -> Program:
    """The program with a given tile, of which only the first `block` rows and columns are used.

    The timed kernel uses all of its tile; the trace asks for blocks of any size.
    """
    heads = problem.batch * problem.heads
    launch = KernelLaunch(
        "simt",
        grid=heads * ceil_div(problem.seqlen_q, block.q),
        arguments=(
            *("q", "k", "v", "o", "lse"),
            np.int32(heads),
            *shape_arguments(problem),
            exponent_factor(problem),
            *sparse_arguments(problem),
            *layout_arguments(problem, problem.heads),
            UNTRACED,
        ),
        threads=THREADS,
        shared_bytes=shared_bytes(problem, tile),
    )
    defines = {
        **simt_defines(problem, tile, block),
        **sparse_defines(problem, block),
        **layout_defines(problem),
    }
    return Program("simt.cu", defines, (launch,), {**sparse_tables(problem, block), **length_tables(problem)})


def shared_bytes(problem: Problem, tile: TileSize) -> int:
    """Shared memory of a block: Q and V; K and P take turns in one place."""
    k_or_p = max(row_bytes(problem.head_dim, tile.k), row_bytes(tile.k, tile.q))
    return row_bytes(problem.head_dim, tile.q) + k_or_p + v_bytes(problem, tile.k)
