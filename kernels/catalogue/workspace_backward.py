"""What each backward pass holds besides what it is given and the gradients, and what is kept for it.

Between the two passes standard keeps P, a matrix; the tiled kernels keep O and LSE, a row of d + 1 numbers
for each query, and compute P again: that difference is why long sequences can be trained on.
"""

from functools import lru_cache

from flashscope.kernels.catalogue import workspace
from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.workload.problem import Backend, Problem

DQ_SUMS, ROW_STATES = "dQ sums", "LSE and delta"
ADDED, ZEROED, KEPT_QUERIES = "additions to dQ", "zeroed sums of dQ", "kept queries"
FLASH3_TILE_Q, FLASH3_NARROW_TILE_Q, FLASH3_TURNED_TILE_Q = 64, 128, 80  # queries of a tile of flash3
NARROW_HEAD, WIDE_HEAD = 64, 128  # wider ones have a kernel of their own
FLASH3_KEYS = 128  # of its tiles
TURNED_COST = 1.222  # steps of 64 queries in the time of one of 80 (H100)
FLASH3_PART = 64  # rows or columns of a tile's dQ that a warpgroup adds at a time
FLASH2_ROWS = 16  # of a fragment
FLASH3_WORD = 256  # queries in 32 bits of its mask, a bit for 8 of them


def kept_weights(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """P as standard's forward pass holds it, Nq x Nk for every head, and O; of a softcap also its slopes."""
    p = _weights(problem, backend)
    return (p, *_slopes(problem, p), _output(problem))


def kept_rows(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """O and LSE."""
    del backend
    return (_output(problem), Buffer("LSE", _rows(problem), "float32"))


def standard(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """P, dS of the same size, and delta; on the CPU also one product before it is added to dK or dV.

    Of a softcap also its slopes, as large as P.
    """
    p = _weights(problem, backend)
    delta = Buffer("delta", _rows(problem), "float32")
    matrices = (p, Buffer("dS", p.shape, p.dtype), *_slopes(problem, p), delta)
    if backend == "cuda":
        return (*matrices, *_kept_blocks(problem))
    return (*matrices, Buffer("product", (problem.seqlen_k, _widest(problem)), "float32"))


def flash1(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """On CUDA sums of dQ in float32; on the CPU one tile's buffers, delta of its rows among them."""
    if backend == "cuda":
        return (Buffer(DQ_SUMS, problem.q_shape, "float32"), *_kept_blocks(problem))
    rows = min(workspace.CPU_BLOCK_Q, problem.seqlen_q)
    return (Buffer("delta", (rows,), "float32"), *_cpu_tile(problem))


def flash2(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """On the CPU delta of every row and one tile's buffers; on CUDA LSE and delta of every row.

    There also sums of dQ in float32, which blocks of keys add to in any order: not if it is deterministic.
    """
    if backend == "cpu":
        return (Buffer("delta", _rows(problem), "float32"), *_cpu_tile(problem))
    rows = (problem.batch, problem.heads, padded(problem.seqlen_q))
    sums = () if problem.deterministic else (Buffer(DQ_SUMS, (*rows, problem.head_dim), "float32"),)
    tables = (*_kept_blocks(problem), *workspace.slopes(problem))
    return (Buffer(ROW_STATES, (*rows, 2), "float32"), *sums, *tables)


def padded(seqlen_q: int) -> int:
    """Queries of a head in whole fragments of the tensor cores."""
    return -(-seqlen_q // FLASH2_ROWS) * FLASH2_ROWS


@lru_cache(maxsize=256)
def flash3_tile_q(problem: Problem) -> int:
    """Queries of a tile.

    At head dim 128 these are 80, as many as registers take. A block mask, a softcap, a bias and the
    deterministic mode need some of those, so that 64 are left; and 64 are faster where the steps of 80, which
    take a fifth longer, are not fewer by more than that.
    """
    if problem.head_dim <= NARROW_HEAD:
        return FLASH3_NARROW_TILE_Q
    few = problem.deterministic or bool(problem.features & {"block_mask", "softcap", "alibi"})
    if problem.head_dim > WIDE_HEAD or few:
        return FLASH3_TILE_Q
    long, short = (_flash3_steps(problem, rows) for rows in (FLASH3_TURNED_TILE_Q, FLASH3_TILE_Q))
    return FLASH3_TURNED_TILE_Q if TURNED_COST * long < short else FLASH3_TILE_Q


def _flash3_steps(problem: Problem, rows: int) -> int:
    """Tiles of so many queries that a head's tiles of keys meet; under a causal mask by their first key."""
    tiles, beyond = -(-problem.seqlen_q // rows), problem.seqlen_k - problem.seqlen_q
    keys = range(0, problem.seqlen_k, FLASH3_KEYS)
    if not problem.causal or problem.window is not None:
        return tiles * len(keys)
    return sum(tiles - max(0, first - beyond) // rows for first in keys)


def flash3(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """What flash3 holds with its own tiles of queries, on CUDA alone."""
    del backend
    return flash3_in_tiles(problem, flash3_tile_q(problem))


def flash3_in_tiles(problem: Problem, tile_q: int) -> tuple[Buffer, ...]:
    """The next key tile to draw; in whole tiles of queries LSE and delta, and sums of dQ in float32.

    If it is deterministic, also how many key tiles have added to each part of a tile's sums; if sums are
    zeroed ahead, what is taken and done of that, of each section of heads, which are as many as heads at
    most. Of a block mask also its tables: tiles of keys, those of queries that see each, and the mask in
    bits.
    """
    tiles = (problem.batch, problem.heads, -(-problem.seqlen_q // tile_q))
    parts = max(2, problem.head_dim // FLASH3_PART)
    added = (Buffer(ADDED, (*tiles, parts), "int32"),) if problem.deterministic else ()
    zeroed = (Buffer(ZEROED, (*tiles[:2], 2), "int32"),) if flash3_zeroes_ahead(problem) else ()
    return (
        Buffer(workspace.TILE_COUNTER, (1,), "int32"),
        Buffer(ROW_STATES, (*tiles, 2, tile_q), "float32"),
        Buffer(DQ_SUMS, (*tiles, tile_q, problem.head_dim), "float32"),
        *added,
        *zeroed,
        *_flash3_tables(problem, tiles[2]),
        *workspace.slopes(problem),
    )


def flash3_zeroes_ahead(problem: Problem) -> bool:
    """Whether its main launch zeroes sums of dQ ahead of use, where two warps are left and it wins (H200)."""
    masked = problem.window is not None or problem.block_mask is not None
    widest = NARROW_HEAD if problem.causal else WIDE_HEAD
    return problem.head_dim <= widest and not masked and not problem.deterministic


def _flash3_tables(problem: Problem, tiles_q: int) -> tuple[Buffer, ...]:
    if problem.block_mask is None:
        return ()
    keys = -(-problem.seqlen_k // FLASH3_KEYS)
    return (
        Buffer(workspace.KEY_TILES, (keys, 2), "int32"),
        Buffer(workspace.QUERY_TILES, (keys, tiles_q, 2), "int32"),
        Buffer(KEPT_QUERIES, (problem.block_mask.shape[1], -(-problem.seqlen_q // FLASH3_WORD)), "int32"),
    )


def library_fused(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """On CUDA sums of dQ and delta, both in float32: an estimate that cuDNN kept to on an H200."""
    if backend == "cpu":
        return ()
    return (Buffer(DQ_SUMS, problem.q_shape, "float32"), Buffer("delta", _rows(problem), "float32"))


def torch_flash(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """The same and, on CUDA, two arrays more as large as O: it kept to that on an H100 and an H200."""
    if backend == "cpu":
        return ()
    copies = (Buffer(name, problem.o_shape, problem.dtype) for name in ("copy of O", "copy of dO"))
    return (*library_fused(problem, backend), *copies)


def flash_attn_4(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """The same and LSE to base 2: it kept to that there."""
    return (*library_fused(problem, backend), Buffer("LSE to base 2", _rows(problem), "float32"))


def torch_math(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """DP and dS, which PyTorch materialises in float32: an estimate, as for its forward pass."""
    del backend
    shape = (*_rows(problem), problem.seqlen_k)
    return (Buffer("dP (float32)", shape, "float32"), Buffer("dS (float32)", shape, "float32"))


def kept_by_torch_math(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """P in float32: an estimate of what autograd keeps."""
    del backend
    return (Buffer("P (float32)", (*_rows(problem), problem.seqlen_k), "float32"),)


def _rows(problem: Problem) -> tuple[int, int, int]:
    return (problem.batch, problem.heads, problem.seqlen_q)


def _weights(problem: Problem, backend: Backend) -> Buffer:
    return next(buffer for buffer in workspace.standard(problem, backend) if buffer.name == "P")


def _slopes(problem: Problem, p: Buffer) -> tuple[Buffer, ...]:
    """How fast each softcapped score changes with the scaled one; nothing without a softcap."""
    return () if problem.softcap is None else (Buffer("slope", p.shape, p.dtype),)


def _output(problem: Problem) -> Buffer:
    return Buffer("O", problem.o_shape, problem.dtype)


def _widest(problem: Problem) -> int:
    """Columns of the widest gradient."""
    return max(problem.head_dim, problem.value_dim)


def _kept_blocks(problem: Problem) -> tuple[Buffer, ...]:
    """Of a block mask CUDA holds whether each block is kept."""
    blocks = problem.block_mask
    return () if blocks is None else (Buffer("kept blocks", blocks.shape, "int32"),)


def _cpu_tile(problem: Problem) -> tuple[Buffer, ...]:
    """Buffers of one tile, reused for all: what shared memory and registers hold on a GPU."""
    rows, columns = min(workspace.CPU_BLOCK_Q, problem.seqlen_q), min(workspace.CPU_BLOCK_K, problem.seqlen_k)
    slope = () if problem.softcap is None else (Buffer("slope tile", (rows, columns), "float32"),)
    return (
        Buffer("P tile", (rows, columns), "float32"),
        Buffer("dS tile", (rows, columns), "float32"),
        Buffer("product", (max(rows, columns), _widest(problem)), "float32"),
        Buffer("row", (rows,), "float32"),
        *slope,
    )
