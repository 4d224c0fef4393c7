"""Shared memory and defines of the kernels on the FMA units: numbers that simt.cuh has too."""

from flashscope.kernels.cuda.program import Struct, TileSize, defines_of, round_up
from flashscope.kernels.workload.problem import Problem

THREADS = 128
ITEMSIZE = 4  # tiles are float32 in shared memory, whatever the inputs are
PAD = 4  # floats between two shared rows
OUTPUT_STEP = 32  # the columns of O are padded to a multiple of it
TILE_STEP = TileSize(16, 8)  # rows and columns of a tile are multiples of these
UNTRACED = Struct(())  # the last argument of a kernel that records nothing; instrument.py has it record

# (widest head, tile), best first. What O takes of a thread's registers S cannot have: these spill nothing.
TILES = (
    (64, TileSize(128, 64)),
    (128, TileSize(128, 32)),
    (128, TileSize(64, 32)),
    (128, TileSize(64, 16)),
    (256, TileSize(64, 32)),
    (256, TileSize(64, 16)),
    (256, TileSize(32, 16)),
    (256, TileSize(32, 8)),
)


def tiles_for(problem: Problem) -> list[TileSize]:
    """The tiles of the tiled kernels that suit the head dim, best first."""
    return [tile for widest, tile in TILES if problem.head_dim <= widest]


def row_bytes(width: int, rows: int) -> int:
    """Rows of Q, K or P."""
    return rows * (width + PAD) * ITEMSIZE


def v_bytes(problem: Problem, rows: int) -> int:
    """Rows of V, padded to what the threads cover of O."""
    return row_bytes(round_up(problem.head_dim, OUTPUT_STEP), rows)


def simt_defines(problem: Problem, tile: TileSize, block: TileSize) -> dict[str, int]:
    """The defines of a kernel; `block` is how much of a tile holds rows and columns."""
    return {
        **defines_of(problem),
        "NEGATIVE_SCALE": int(problem.softmax_scale < 0),
        "TILE_Q": tile.q,
        "TILE_K": tile.k,
        "BLOCK_Q": block.q,
        "BLOCK_K": block.k,
        "TRACE": 0,
    }
