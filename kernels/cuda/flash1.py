"""flash1 on CUDA: one block a head, then one launch that rounds O to the element type and finishes LSE."""

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
FINISH_THREADS = 256


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O, LSE, m, l and for 16 bits a float32 O, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the two launches for a problem on a target, with the largest tile that fits it."""
    tiles = TILES if problem.head_dim <= WIDE_HEAD else TILES[1:]
    tile = choose_tile(tiles, lambda t: shared_bytes(problem.head_dim, t), target.shared_memory, per_sm=1)
    return build(problem, tile, block=tile)


def build(problem: Problem, tile: Tile, block: Tile) -> Program:
    """The program with a given tile, of which only the first `block` rows and columns are used.

    The timed kernel uses all of its tile; the trace asks for blocks of any size.
    """
    running = "o" if problem.dtype == "float32" else "O"
    lengths = (np.int32(problem.seqlen_q), np.int32(problem.seqlen_k))
    scale = np.float32(problem.softmax_scale * LOG2E)
    pass_all = Stage(
        "flash1",
        grid=problem.batch * problem.heads,
        arguments=("q", "k", "v", running, "m", "l", *lengths, scale),
        shared_bytes=shared_bytes(problem.head_dim, tile),
    )
    finish = Stage(
        "flash1_finish",
        grid=ceil_div(problem.rows * problem.head_dim // 4, FINISH_THREADS),
        arguments=(running, "m", "l", "o", "lse", np.int64(problem.rows)),
        threads=FINISH_THREADS,
    )
    return Program("flash1.cu", defines_of(problem, tile, block), (pass_all, finish))


def shared_bytes(head_dim: int, tile: Tile) -> int:
    """Shared memory of a block: Q, K, V and P, each in its own place."""
    qk = (tile.q + tile.k) * (head_dim + PAD)
    return FLOAT * (qk + tile.k * v_stride(head_dim) + tile.q * (tile.k + PAD))
