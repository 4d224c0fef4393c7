"""flash2 on CUDA: one launch, one block a query tile."""

import numpy as np

from kernels.cuda.launch import bind
from kernels.cuda.program import (
    Program,
    Stage,
    Target,
    Tile,
    ceil_div,
    choose_tile,
    defines_of,
    exponent_factor,
)
from kernels.cuda.units import Units, units_for
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.spec import KernelSpec

# (widest head, tile), best first. What O takes of a thread's registers S cannot have: these spill nothing on
# any architecture. On an H200 (bfloat16, d = 128, N = 16384) 48 columns ran 16 % faster than 64, which spill,
# and 14 % faster than 32.
SIMT_TILES = ((64, Tile(128, 64)), (128, Tile(128, 32)), (128, Tile(64, 32)), (128, Tile(64, 16)))
TENSOR_TILES = (
    (64, Tile(128, 96)),
    (96, Tile(128, 64)),
    (128, Tile(128, 48)),
    (128, Tile(64, 64)),
    (128, Tile(64, 32)),
)


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O and LSE, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem on a target, with the largest tile that fits it well."""
    units = units_for(problem, target)
    table = TENSOR_TILES if units.tensor_cores else SIMT_TILES
    tiles = [tile for widest, tile in table if problem.head_dim <= widest]
    tile = choose_tile(tiles, lambda t: shared_bytes(problem, units, t), target.shared_memory, per_sm=2)
    return build(problem, units, tile, block=tile)


def build(problem: Problem, units: Units, tile: Tile, block: Tile) -> Program:
    """The program with a given tile, of which only the first `block` rows and columns are used.

    The timed kernel uses all of its tile; the trace asks for blocks of any size.
    """
    heads = problem.batch * problem.heads
    stage = Stage(
        "flash2",
        grid=heads * ceil_div(problem.seqlen_q, block.q),
        arguments=(
            *("q", "k", "v", "o", "lse"),
            *(np.int32(n) for n in (heads, problem.seqlen_q, problem.seqlen_k)),
            exponent_factor(problem),
        ),
        shared_bytes=shared_bytes(problem, units, tile),
    )
    return Program("flash2.cu", defines_of(problem, units.tensor_cores, tile, block), (stage,))


def shared_bytes(problem: Problem, units: Units, tile: Tile) -> int:
    """Shared memory of a block: Q, K and V; on the FMA units K and P take turns in one place."""
    k_or_p = units.q_bytes(problem, tile.k)
    if units.shares_k_and_p:
        k_or_p = max(k_or_p, units.p_bytes(tile))
    return units.q_bytes(problem, tile.q) + k_or_p + units.v_bytes(problem, tile.k)
