"""flash1 on the FMA units, for float32 and for traces: one block a head, then one launch for LSE."""

import numpy as np

from flashscope.kernels.catalogue.workspace import RUNNING_O
from flashscope.kernels.cuda.program import (
    KernelLaunch,
    Program,
    Target,
    TileSize,
    ceil_div,
    choose_fitting,
    exponent_factor,
    shape_arguments,
)
from flashscope.kernels.cuda.simt import masked_tiles
from flashscope.kernels.cuda.simt_layout import THREADS, UNTRACED, row_bytes, simt_defines, tiles_for, v_bytes
from flashscope.kernels.cuda.sparse import kept_argument, kept_table, sparse_defines
from flashscope.kernels.workload.problem import Problem

FINISH_THREADS = 256


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the two launches for a problem on a target, with the largest tile that fits it."""
    tiles = masked_tiles(problem, tiles_for(problem))
    tile = choose_fitting(tiles, lambda tile: shared_bytes(problem, tile), target.shared_memory)
    return build(problem, tile, block=tile)


def build(problem: Problem, tile: TileSize, block: TileSize) -> Program:
    """The program with a given tile, of which only the first `block` rows and columns are used."""
    running = "o" if problem.dtype == "float32" else RUNNING_O
    pass_all = KernelLaunch(
        "simt_flash1",
        grid=problem.batch * problem.heads,
        arguments=(
            *("q", "k", "v", running, "m", "l"),
            *shape_arguments(problem),
            exponent_factor(problem),
            kept_argument(problem),
            UNTRACED,
        ),
        threads=THREADS,
        shared_bytes=shared_bytes(problem, tile),
    )
    finish = KernelLaunch(
        "simt_flash1_finish",
        grid=ceil_div(problem.rows * problem.head_dim // 4, FINISH_THREADS),
        arguments=(running, "m", "l", "o", "lse", np.int64(problem.rows)),
        threads=FINISH_THREADS,
    )
    defines = {**simt_defines(problem, tile, block), **sparse_defines(problem, block)}
    return Program("simt_flash1.cu", defines, (pass_all, finish), kept_table(problem))


def shared_bytes(problem: Problem, tile: TileSize) -> int:
    """Shared memory of a block: Q, K, V and P."""
    return row_bytes(problem.head_dim, tile.q + tile.k) + v_bytes(problem, tile.k) + row_bytes(tile.k, tile.q)
