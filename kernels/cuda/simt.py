"""simt on CUDA: flash2's loop order on the FMA units, one launch, one block a query tile."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from kernels.cuda.launch import bind
from kernels.cuda.program import (
    BLOCK_LISTS,
    NO_POINTER,
    STEP_COUNTS,
    Program,
    Stage,
    Target,
    Tile,
    ceil_div,
    choose,
    exponent_factor,
    shape_arguments,
)
from kernels.cuda.ragged import layout_arguments, layout_defines, length_tables
from kernels.cuda.simt_layout import THREADS, TILE_STEP, row_bytes, simt_defines, tiles_for, v_bytes
from kernels.cuda.sparse import block_text, divides, sparse_defines, sparse_tables
from kernels.errors import InputError
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.spec import KernelSpec


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O and LSE, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem on a target, with the largest tile that fits it well."""
    tile = choose(
        masked_tiles(problem, tiles_for(problem)),
        lambda tile: shared_bytes(problem, tile),
        target.shared_memory,
        per_sm=2,
    )
    return build(problem, tile, block=tile)


def masked_tiles(problem: Problem, table: Iterable[Tile]) -> list[Tile]:
    """Tiles of a table, or smaller, that never lie in two blocks of the block mask, best first.

    Raises:
        InputError: There is none.
    """
    small = (Tile(q, k) for q in (64, 32, 16) for k in (32, 16, 8))
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


def build(problem: Problem, tile: Tile, block: Tile) -> Program:
    """The program with a given tile, of which only the first `block` rows and columns are used.

    The timed kernel uses all of its tile; the trace asks for blocks of any size.
    """
    heads = problem.batch * problem.heads
    stage = Stage(
        "simt",
        grid=heads * ceil_div(problem.seqlen_q, block.q),
        arguments=(
            *("q", "k", "v", "o", "lse"),
            np.int32(heads),
            *shape_arguments(problem),
            exponent_factor(problem),
            *sparse_arguments(problem),
            *layout_arguments(problem, problem.heads),
        ),
        threads=THREADS,
        shared_bytes=shared_bytes(problem, tile),
    )
    defines = {
        **simt_defines(problem, tile, block),
        **sparse_defines(problem, block),
        **layout_defines(problem),
    }
    return Program("simt.cu", defines, (stage,), {**sparse_tables(problem, block), **length_tables(problem)})


def shared_bytes(problem: Problem, tile: Tile) -> int:
    """Shared memory of a block: Q and V; K and P take turns in one place."""
    k_or_p = max(row_bytes(problem.head_dim, tile.k), row_bytes(tile.k, tile.q))
    return row_bytes(problem.head_dim, tile.q) + k_or_p + v_bytes(problem, tile.k)
