"""standard on CUDA: three launches with S and P in HBM."""

import numpy as np

from kernels.cuda.launch import bind
from kernels.cuda.program import THREADS, Program, Stage, Target, Tile, ceil_div, choose_tile, defines_of
from kernels.cuda.units import Units, units_for
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.spec import KernelSpec

TENSOR_TILES = (Tile(128, 128), Tile(64, 128))
SIMT_TILES = (Tile(128, 64), Tile(64, 64))
SIMT_STEP = 32  # depth of one step of QK^T and of PV on the FMA units
TENSOR_KEYS = 64  # depth of one step of PV on the tensor cores
WARPS = THREADS // 32
LONGEST_WARP_ROW = 1024  # a warp's registers hold that much of a row; longer rows get a block each


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O, LSE, S and P, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the three launches for a problem on a target."""
    units = units_for(problem, target)
    tiles = TENSOR_TILES if units.tensor_cores else SIMT_TILES
    tile = choose_tile(
        tiles,
        lambda t: max(scores_bytes(problem, units, t), output_bytes(problem, units, t)),
        target.shared_memory,
        per_sm=1,
    )
    heads = problem.batch * problem.heads
    tiles_q, tiles_k = ceil_div(problem.seqlen_q, tile.q), ceil_div(problem.seqlen_k, tile.k)
    lengths = (np.int32(problem.seqlen_q), np.int32(problem.seqlen_k))
    scores = Stage(
        "standard_scores",
        grid=heads * tiles_q * tiles_k,
        arguments=("q", "k", "S", *lengths, np.float32(problem.softmax_scale)),
        shared_bytes=scores_bytes(problem, units, tile),
    )
    whole_block = problem.seqlen_k > LONGEST_WARP_ROW
    softmax = Stage(
        "standard_softmax_block" if whole_block else "standard_softmax_warp",
        grid=problem.rows if whole_block else ceil_div(problem.rows, WARPS),
        arguments=("S", "P", "lse", np.int64(problem.rows), *lengths),
    )
    output = Stage(
        "standard_output",
        grid=heads * tiles_q,
        arguments=("P", "v", "o", *lengths),
        shared_bytes=output_bytes(problem, units, tile),
    )
    return Program(
        "standard.cu", defines_of(problem, units.tensor_cores, tile, tile), (scores, softmax, output)
    )


def scores_bytes(problem: Problem, units: Units, tile: Tile) -> int:
    """Shared memory of a block of QK^T: one step's Q and K, then the finished tile."""
    step = problem.head_dim if units.tensor_cores else SIMT_STEP
    vector = 16 // problem.itemsize
    finished = tile.q * (tile.k + vector) * problem.itemsize
    return max(units.row_bytes(step, units.depth_step, tile.q + tile.k), finished)


def output_bytes(problem: Problem, units: Units, tile: Tile) -> int:
    """Shared memory of a block of PV: two steps' P and V."""
    keys = TENSOR_KEYS if units.tensor_cores else SIMT_STEP
    return 2 * (units.row_bytes(keys, units.depth_step, tile.q) + units.v_bytes(problem, keys))
