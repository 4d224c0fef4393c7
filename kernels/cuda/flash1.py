"""flash1 on CUDA: one block a head, then one launch that rounds O to the element type and finishes LSE."""

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

# (widest head, tile), best first. What O takes of a thread's registers S cannot have: these spill nothing.
SIMT_TILES = ((64, Tile(128, 64)), (128, Tile(128, 32)), (128, Tile(64, 32)), (128, Tile(64, 16)))
TENSOR_TILES = ((96, Tile(128, 64)), (128, Tile(128, 48)))
FINISH_THREADS = 256


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O, LSE, m, l and for 16 bits a float32 O, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the two launches for a problem on a target, with the largest tile that fits it."""
    units = units_for(problem, target)
    table = TENSOR_TILES if units.tensor_cores else SIMT_TILES
    tiles = [tile for widest, tile in table if problem.head_dim <= widest]
    tile = choose_tile(tiles, lambda t: shared_bytes(problem, units, t), target.shared_memory, per_sm=1)
    return build(problem, units, tile, block=tile)


def build(problem: Problem, units: Units, tile: Tile, block: Tile) -> Program:
    """The program with a given tile, of which only the first `block` rows and columns are used.

    The timed kernel uses all of its tile; the trace asks for blocks of any size.
    """
    running = "o" if problem.dtype == "float32" else "O"
    lengths = (np.int32(problem.seqlen_q), np.int32(problem.seqlen_k))
    pass_all = Stage(
        "flash1",
        grid=problem.batch * problem.heads,
        arguments=("q", "k", "v", running, "m", "l", *lengths, exponent_factor(problem)),
        shared_bytes=shared_bytes(problem, units, tile),
    )
    finish = Stage(
        "flash1_finish",
        grid=ceil_div(problem.rows * problem.head_dim // 4, FINISH_THREADS),
        arguments=(running, "m", "l", "o", "lse", np.int64(problem.rows)),
        threads=FINISH_THREADS,
    )
    defines = defines_of(problem, units.tensor_cores, tile, block)
    return Program("flash1.cu", defines, (pass_all, finish))


def shared_bytes(problem: Problem, units: Units, tile: Tile) -> int:
    """Shared memory of a block: Q, K, V and, on the FMA units, P."""
    tiles = units.q_bytes(problem, tile.q + tile.k) + units.v_bytes(problem, tile.k)
    return tiles if units.tensor_cores else tiles + units.p_bytes(tile)
