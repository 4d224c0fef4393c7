"""standard on the FMA units, for float32: three launches with S and P in HBM."""

import numpy as np

from flashscope.kernels.cuda.program import (
    KernelLaunch,
    Program,
    Target,
    TileSize,
    ceil_div,
    choose_fitting,
    shape_arguments,
)
from flashscope.kernels.cuda.simt import masked_tiles, sparse_arguments
from flashscope.kernels.cuda.simt_layout import THREADS, row_bytes, simt_defines, v_bytes
from flashscope.kernels.cuda.sparse import sparse_defines, sparse_tables
from flashscope.kernels.workload.problem import Problem

TILES = ((128, TileSize(128, 64)), (256, TileSize(64, 64)))  # (widest head, tile): none spills
STEP = 32  # depth of one step of QK^T
WIDE_HEAD = 128  # beyond it a step of PV is half as deep: two of its tiles must fit sm_75
WARPS = THREADS // 32
LONGEST_WARP_ROW = 1024  # a warp's registers hold that much of a row; longer rows get a block each


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the three launches for a problem on a target."""
    tile = choose_fitting(
        masked_tiles(problem, (tile for widest, tile in TILES if problem.head_dim <= widest)),
        lambda tile: max(scores_bytes(tile), output_bytes(problem, tile)),
        target.shared_memory,
    )
    heads = problem.batch * problem.heads
    tiles_q, tiles_k = ceil_div(problem.seqlen_q, tile.q), ceil_div(problem.seqlen_k, tile.k)
    shape, tables = shape_arguments(problem), sparse_arguments(problem)
    scores = KernelLaunch(
        "simt_standard_scores",
        grid=heads * tiles_q * tiles_k,
        arguments=("q", "k", "S", *shape, np.float32(problem.softmax_scale), *tables),
        threads=THREADS,
        shared_bytes=scores_bytes(tile),
    )
    whole_block = problem.seqlen_k > LONGEST_WARP_ROW
    softmax = KernelLaunch(
        "simt_standard_softmax_block" if whole_block else "simt_standard_softmax_warp",
        grid=problem.rows if whole_block else ceil_div(problem.rows, WARPS),
        arguments=("S", "P", "lse", np.int64(problem.rows), *shape[1:], *tables),
        threads=THREADS,
    )
    output = KernelLaunch(
        "simt_standard_output",
        grid=heads * tiles_q,
        arguments=("P", "v", "o", *shape, *tables),
        threads=THREADS,
        shared_bytes=output_bytes(problem, tile),
    )
    defines = {**simt_defines(problem, tile, tile), **sparse_defines(problem, tile)}
    return Program("simt_standard.cu", defines, (scores, softmax, output), sparse_tables(problem, tile))


def scores_bytes(tile: TileSize) -> int:
    """Shared memory of a block of QK^T: one step's Q and K, then the finished tile."""
    return max(row_bytes(STEP, tile.q + tile.k), row_bytes(tile.k, tile.q))


def output_bytes(problem: Problem, tile: TileSize) -> int:
    """Shared memory of a block of PV: two steps' P and V."""
    keys = min(tile.k, STEP if problem.head_dim <= WIDE_HEAD else STEP // 2)
    return 2 * (row_bytes(keys, tile.q) + v_bytes(problem, keys))
