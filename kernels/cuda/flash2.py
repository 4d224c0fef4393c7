"""flash2 on CUDA: one launch, one block a query tile."""

import numpy as np

from kernels.cuda.launch import bind
from kernels.cuda.program import (
    FLOAT,
    LOG2E,
    PAD,
    Program,
    Stage,
    Target,
    Tile,
    ceil_div,
    choose_tile,
    defines_of,
    v_stride,
)
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.spec import KernelSpec

WIDE_HEAD = 64  # above it a thread's part of O leaves no registers for 8 x 8 scores
TILES = (Tile(128, 64), Tile(128, 32), Tile(64, 32), Tile(64, 16))


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O and LSE, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem on a target, with the largest tile that fits it well."""
    tiles = TILES if problem.head_dim <= WIDE_HEAD else TILES[1:]
    tile = choose_tile(tiles, lambda t: shared_bytes(problem.head_dim, t), target.shared_memory, per_sm=2)
    return build(problem, tile, block=tile)


def build(problem: Problem, tile: Tile, block: Tile) -> Program:
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
            np.float32(problem.softmax_scale * LOG2E),
        ),
        shared_bytes=shared_bytes(problem.head_dim, tile),
    )
    return Program("flash2.cu", defines_of(problem, tile, block), (stage,))


def shared_bytes(head_dim: int, tile: Tile) -> int:
    """Shared memory of a block: Q, V, and one place that K and P take in turns."""
    k_or_p = max(tile.k * (head_dim + PAD), tile.q * (tile.k + PAD))
    return FLOAT * (tile.q * (head_dim + PAD) + k_or_p + tile.k * v_stride(head_dim))
