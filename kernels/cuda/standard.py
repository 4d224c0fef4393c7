"""standard on CUDA: three launches with S and P in HBM."""

import numpy as np

from kernels.cuda.launch import bind
from kernels.cuda.program import THREADS, Program, Stage, Target, Tile, ceil_div, defines_of
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.spec import KernelSpec

TILE = Tile(128, 64)
WARPS = THREADS // 32
LONGEST_WARP_ROW = 1024  # a warp's registers hold that much of a row; longer rows get a block each


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O, LSE, S and P, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the three launches for a problem; every target takes the same tiles."""
    del target
    heads = problem.batch * problem.heads
    tiles_q, tiles_k = ceil_div(problem.seqlen_q, TILE.q), ceil_div(problem.seqlen_k, TILE.k)
    lengths = (np.int32(problem.seqlen_q), np.int32(problem.seqlen_k))
    scores = Stage(
        "standard_scores",
        grid=heads * tiles_q * tiles_k,
        arguments=("q", "k", "S", *lengths, np.float32(problem.softmax_scale)),
    )
    whole_block = problem.seqlen_k > LONGEST_WARP_ROW
    softmax = Stage(
        "standard_softmax_block" if whole_block else "standard_softmax_warp",
        grid=problem.rows if whole_block else ceil_div(problem.rows, WARPS),
        arguments=("S", "P", "lse", np.int64(problem.rows), *lengths),
    )
    output = Stage("standard_output", grid=heads * tiles_q, arguments=("P", "v", "o", *lengths))
    return Program("standard.cu", defines_of(problem, TILE, TILE), (scores, softmax, output))
