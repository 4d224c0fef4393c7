"""What each kernel holds besides inputs and outputs: predicted from it, and allocated from it."""

from flashscope.kernels.catalogue import fp8
from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.flash3_share import Share, share
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Backend, Dtype, Problem

CPU_BLOCK_Q = 128  # rows of a tile on the CPU backend, Br
CPU_BLOCK_K = 512  # columns of a tile, Bc: its scores are 256 KiB and stay in an L2 cache
ROW_STEP = 8  # elements in 16 bytes
GATHERED_K, GATHERED_V = "K of a sequence", "V of a sequence"
TILE_COUNTER = "tile counter"
TILE_ORDER, QUERY_TILES, KEY_TILES, KEPT_KEYS = "tile order", "query tiles", "key tiles", "kept keys"
PARTIAL_O, PARTIAL_SUMS = "partial O", "partial m and l"
QUERY_LENGTHS, KEY_LENGTHS = "query lengths", "key lengths"
RUNNING_O = "running O"
SLOPES = "ALiBi's slopes"
FLASH3_TILE = (128, 64)  # queries and keys of the smallest tile that flash3 cuts: the most tiles there can be
Q_E4M3, K_E4M3, V_E4M3 = "Q in e4m3", "K in e4m3", "transposed V in e4m3"
FP8_SCALE_BYTES = 128  # behind a block in 8 bits
FLASH3_WORD = 256  # keys in 32 bits of flash3's mask, a bit for 8 of them


def standard(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """S and P in the problem's dtype, both Nq x Nk for every head: the quadratic footprint.

    On the CPU also the row sums l; of a block mask CUDA holds each row's kept blocks, and how many steps they
    make.
    """
    return _standard(problem, backend, problem.dtype)


def standard_fp32s(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """Buffers of `standard`, with S in float32."""
    return _standard(problem, backend, "float32")


def _standard(problem: Problem, backend: Backend, scores: Dtype) -> tuple[Buffer, ...]:
    """Rows of 16-bit problems are padded on CUDA to 16 bytes of P: what the tensor cores' kernels access."""
    padded = backend == "cuda" and problem.dtype != "float32"
    columns = -(-problem.seqlen_k // ROW_STEP) * ROW_STEP if padded else problem.seqlen_k
    shape = (problem.batch, problem.heads, problem.seqlen_q, columns)
    matrices = (Buffer("S", shape, scores), Buffer("P", shape, problem.dtype))
    if backend == "cpu":
        return (*matrices, Buffer("l", shape[:3], "float32"), *_cpu_gathered(problem))
    return matrices if problem.block_mask is None else (*matrices, *_block_tables(problem.block_mask))


def flash1(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """Running m and l of every row, read and written once for each key block; one tile's buffers on the CPU.

    On CUDA a 16-bit O is too coarse to be read back and rescaled, so it is held in float32 until the end; of
    a block mask CUDA holds whether each block is kept.
    """
    rows = (problem.batch, problem.heads, problem.seqlen_q)
    state: tuple[Buffer, ...] = (Buffer("m", rows, "float32"), Buffer("l", rows, "float32"))
    if backend == "cpu":
        return (*state, *_cpu_tile(problem, CPU_BLOCK_Q, CPU_BLOCK_K), *_cpu_gathered(problem))
    if problem.itemsize < 4:  # noqa: PLR2004 - bytes of a float32
        state = (*state, Buffer(RUNNING_O, problem.q_shape, "float32"))
    blocks = problem.block_mask
    return state if blocks is None else (*state, Buffer("kept blocks", blocks.shape, "int32"))


def flash2(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """Nothing on CUDA: the tile lives in registers and shared memory. On the CPU one tile's buffers.

    Of a block mask CUDA holds each row's kept blocks, and how many steps they make; of sequences of different
    lengths these; of ALiBi each head's slope.
    """
    if backend == "cuda":
        blocks = problem.block_mask
        return (*(length_buffers(problem) if blocks is None else _block_tables(blocks)), *slopes(problem))
    return flash2_in_tiles(problem, CPU_BLOCK_Q, CPU_BLOCK_K)


def flash2_in_tiles(problem: Problem, rows: int, keys: int) -> tuple[Buffer, ...]:
    """What flash2 holds on the CPU in tiles of so many query rows and keys, or all there are."""
    of_rows = (min(rows, problem.seqlen_q),)
    state = Buffer("m", of_rows, "float32"), Buffer("l", of_rows, "float32")
    return (*state, *_cpu_tile(problem, rows, keys), *_cpu_gathered(problem))


def fused(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """Nothing on CUDA: rows of scores lie in shared memory. On the CPU those of one block, and its sums."""
    if backend == "cuda":
        return ()
    rows = min(CPU_BLOCK_Q, problem.seqlen_q)
    scores = Buffer("S rows", (rows, problem.seqlen_k), "float32"), Buffer("l", (rows,), "float32")
    return (*scores, *_cpu_gathered(problem))


def torch_math(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """What PyTorch materialises in float32: scaled Q and K, S and P; of 16 bits also Q, K, V and O.

    An estimate from PyTorch's source: a library allocates as it likes, and its measured peak is what counts.
    """
    del backend
    matrix = (problem.batch, problem.heads, problem.seqlen_q, problem.seqlen_k)
    shapes = {"scaled Q": problem.q_shape, "scaled K": problem.k_shape, "S": matrix, "P": matrix}
    if problem.dtype != "float32":
        shapes |= {"Q": problem.q_shape, "K": problem.k_shape, "V": problem.v_shape, "O": problem.o_shape}
    return tuple(Buffer(f"{name} (float32)", shape, "float32") for name, shape in shapes.items())


def flash3(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """As of its steps; lengths; where keys are split also each part's O, and m and l of its rows."""
    del backend
    return flash3_shared(problem, share(problem))


def flash3_shared(problem: Problem, chosen: Share) -> tuple[Buffer, ...]:
    """The same for one way to share a problem among the SMs."""
    if chosen.splits == 1:
        return (*_flash3_tiles(problem, 1), *length_buffers(problem), *slopes(problem))
    heads, rows = problem.batch * problem.heads // chosen.pack_gqa, problem.seqlen_q * chosen.pack_gqa
    parts = (heads, chosen.splits, rows)
    return (
        *_flash3_tiles(problem, chosen.splits),
        *length_buffers(problem),
        *slopes(problem),
        Buffer(PARTIAL_O, (*parts, problem.value_dim), "float32"),
        Buffer(PARTIAL_SUMS, (*parts, 2), "float32"),
    )


def flash3_step(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """The next tile to draw, and how many blocks have finished; of a block mask also its tables.

    They are for each tile of queries the key tiles that cover what it keeps, and the mask in bits.
    """
    del backend
    return _flash3_tiles(problem, 1)


def _flash3_tiles(problem: Problem, splits: int) -> tuple[Buffer, ...]:
    counter = Buffer(TILE_COUNTER, (2,), "int32")
    if problem.block_mask is None:
        return (counter,)
    rows, keys = FLASH3_TILE
    query_tiles, key_tiles = -(-problem.seqlen_q // rows), -(-problem.seqlen_k // keys)
    words = -(-problem.seqlen_k // FLASH3_WORD) + 1  # two are read at a time
    return (
        counter,
        Buffer(TILE_ORDER, (problem.batch * problem.heads * splits * query_tiles, 2), "int32"),
        Buffer(QUERY_TILES, (query_tiles, 4), "int32"),
        Buffer(KEY_TILES, (query_tiles, key_tiles), "int32"),
        Buffer(KEPT_KEYS, (problem.block_mask.shape[0], words), "int32"),
    )


def flash3_fp8(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """Q, K and V in 8 bits, cut into blocks whose last ones are padded, and what flash3 draws tiles from.

    Behind each block lies its scale.
    """
    del backend
    chosen, d = fp8.fp8_tiling(problem.head_dim), problem.head_dim
    q_tiles, k_tiles = chosen.tiles(problem.seqlen_q, problem.seqlen_k)
    q_blocks = problem.batch * problem.heads * q_tiles * chosen.groups
    k_blocks = problem.batch * problem.key_heads * k_tiles
    return (
        Buffer(Q_E4M3, (q_blocks, fp8.QUERY_BLOCK * d + FP8_SCALE_BYTES), "uint8"),
        Buffer(K_E4M3, (k_blocks, chosen.key_block * d + FP8_SCALE_BYTES), "uint8"),
        Buffer(V_E4M3, (k_blocks, chosen.key_block * d + FP8_SCALE_BYTES), "uint8"),
        Buffer(TILE_COUNTER, (2,), "int32"),
    )


def library_fused(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """Nothing that is known: what a fused library kernel allocates besides its outputs is its own affair."""
    del problem, backend
    return ()


def length_buffers(problem: Problem) -> tuple[Buffer, ...]:
    """Query rows and keys of each sequence; nothing where all are as long as the arrays."""
    if "ragged" not in problem.features:
        return ()
    return tuple(Buffer(name, (problem.batch,), "int32") for name in (QUERY_LENGTHS, KEY_LENGTHS))


def slopes(problem: Problem) -> tuple[Buffer, ...]:
    """ALiBi's slope of each head of all sequences; nothing without a bias."""
    return (Buffer(SLOPES, (problem.batch * problem.heads,), "float32"),) if problem.alibi else ()


def _block_tables(blocks: BlockMask) -> tuple[Buffer, ...]:
    return (Buffer("block lists", blocks.shape, "int32"), Buffer("step counts", blocks.shape[:1], "int32"))


def _cpu_gathered(problem: Problem) -> tuple[Buffer, ...]:
    """K and V of one sequence, copied from their pages; nothing where they lie as arrays."""
    if problem.page_size is None:
        return ()
    keys = (problem.key_heads, problem.seqlen_k)
    k, v = (*keys, problem.head_dim), (*keys, problem.value_dim)
    return Buffer(GATHERED_K, k, "float32"), Buffer(GATHERED_V, v, "float32")


def _cpu_tile(problem: Problem, block_q: int, block_k: int) -> tuple[Buffer, ...]:
    """Buffers of one tile, reused for all: what shared memory and registers hold on a GPU."""
    rows, columns = min(block_q, problem.seqlen_q), min(block_k, problem.seqlen_k)
    return (
        Buffer("S tile", (rows, columns), "float32"),
        Buffer("PV tile", (rows, problem.value_dim), "float32"),
        Buffer("alpha", (rows,), "float32"),
        Buffer("row", (rows,), "float32"),
    )
