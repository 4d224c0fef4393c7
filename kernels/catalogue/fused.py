"""Where fusing without tiling ends: whole rows of scores in shared memory, and how many keys that allows.

Importable without NumPy; `kernels.cuda.fused` lays the same buffers out.
"""

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem

ROWS = 16  # query rows of a block: the fewest that the threads of simt.cuh cover
ITEMSIZE = 4  # scores and tiles are float32 in shared memory, whatever the inputs are
PAD = 4  # floats between two shared rows
OUTPUT_STEP = 32  # the columns of V are padded to a multiple of it
STAGES = 2  # tiles of K or V in shared memory at a time
KEY_TILES = ((64, 64), (128, 32), (256, 16))  # (widest head, keys of a tile)
KIB = 1024


def key_tile(head_dim: int) -> int:
    """Keys of a tile of K or V, Bc: the wider a head, the fewer."""
    return next(keys for widest, keys in KEY_TILES if head_dim <= widest)


def walk(problem: Problem) -> int:
    """Keys that the rows of one block meet at most: all of them, or the band of a window, in whole tiles."""
    tile, mask = key_tile(problem.head_dim), problem.mask
    band = mask.highest - mask.lowest + ROWS + tile - 1  # it may begin anywhere in a tile
    return min(_up(problem.seqlen_k, tile), _up(max(band, 1), tile))


def score_bytes(problem: Problem) -> int:
    """Shared memory of a block's scores, tile beside tile."""
    tile = key_tile(problem.head_dim)
    return walk(problem) // tile * _score_tile_bytes(tile)


def other_bytes(problem: Problem) -> int:
    """Shared memory of Q and of the tiles of K or V that are on their way."""
    head_dim = problem.head_dim
    v_row = _up(head_dim, OUTPUT_STEP) + PAD
    return (ROWS * (head_dim + PAD) + STAGES * key_tile(head_dim) * v_row) * ITEMSIZE


def shared_bytes(problem: Problem) -> int:
    """Shared memory of a block."""
    return score_bytes(problem) + other_bytes(problem)


def longest(problem: Problem, limit: int) -> int:
    """The most keys whose scores fit a block of so many bytes, beside the rest; 0: none do."""
    tile = key_tile(problem.head_dim)
    return max(0, (limit - other_bytes(problem)) // _score_tile_bytes(tile)) * tile


def too_long(problem: Problem, device: Device) -> str | None:
    """Why the scores of a block's rows do not fit, with the arithmetic; None where they do."""
    limit = device.shared_memory_per_block
    if limit is None or shared_bytes(problem) <= limit:
        return None
    return (
        f"fused keeps {ROWS} whole rows of scores in shared memory: {walk(problem)} keys take "
        f"{_kib(score_bytes(problem))} in float32, Q and tiles of K and V {_kib(other_bytes(problem))}, and "
        f"a block here has {_kib(limit)}, enough for {longest(problem, limit)} keys; choose a tiled kernel"
    )


def _score_tile_bytes(tile: int) -> int:
    return ROWS * (tile + PAD) * ITEMSIZE


def _up(count: int, step: int) -> int:
    return -(-count // step) * step


def _kib(count: int) -> str:
    return f"{count / KIB:.1f} KiB"
