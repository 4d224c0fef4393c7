"""What theory says of a kernel: footprint, tile-level IO, DRAM traffic, intensity, roofline.

Everything here is a formula and is shown as *model*, never as a measurement. Three kinds of bytes are never
mixed: the footprint (what is held), the tile-level IO (what the SMs move to and from L2) and the DRAM traffic
(what must cross the bus of the memory). The re-reads of K and V of a tiled kernel are mostly served by L2, so
its tile-level IO is tens of times its DRAM traffic.

Of sequences of different lengths each is counted for itself, and what is written into padding; of pages not
the table that names them. What masks leave out is not counted, as far as a kernel leaves it out: on a GPU
every kernel here skips tiles that they empty; on the CPU `standard` and `fused` compute and read whole
matrices.

Sources:
    FA1: Dao, Fu, Ermon, Rudra, Ré, "FlashAttention", 2022: Algorithms 0 and 1, Theorem 2.
    FA2: Dao, "FlashAttention-2", 2023: Algorithm 1.
    Roofline: Williams, Waterman, Patterson, 2009.
"""

from collections.abc import Collection, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from msgspec import structs

from kernels import fused, workspace
from kernels.flash3_share import share
from kernels.problem import LSE_ITEMSIZE, Backend, Problem
from kernels.registry import find_kernel
from kernels.spec import KernelSpec

FLOAT32 = 4


class Tiles(NamedTuple):
    """Tile sizes: Br query rows, Bc key rows."""

    block_q: int = 128
    block_k: int = 64


TILES: dict[Backend, Tiles] = {
    "cuda": Tiles(),  # of the CUDA kernels here while the head dim is at most 64
    "cpu": Tiles(workspace.CPU_BLOCK_Q, workspace.CPU_BLOCK_K),
}


def footprint_bytes(kernel: str, problem: Problem, backend: Backend) -> int:
    """Bytes held at once: inputs + outputs + workspace, exact (FA1, section 2.2 and Theorem 1).

    `standard` holds S and P, so it grows with N^2; the tiled kernels hold O(N) beyond inputs and outputs.

    Raises:
        KeyError: No kernel has this name.
    """
    return find_kernel(kernel).predicted_bytes(problem, backend)


def tile_io_bytes(kernel: str, problem: Problem, backend: Backend) -> int | None:
    """Bytes that thread blocks move between SM and L2 in one run; None where there is no formula.

    There is none for some kernels, nor for any backward pass.

    On the CPU: between the last cache and the tile that is computed.

    Raises:
        KeyError: No kernel has this name.
    """
    spec = find_kernel(kernel)
    if spec.io is None or problem.runs_backward:
        return None
    formula, tiles = FORMULAS[spec.io], tiles_of(kernel, problem, backend)
    if "ragged" not in problem.features:
        return formula(_as_computed(spec, problem, backend), tiles)
    alike = problem.alike.items()
    own = sum(count * formula(_as_computed(spec, one, backend), tiles) for one, count in alike)
    return own + _padding_bytes(problem)


def tiles_of(kernel: str, problem: Problem, backend: Backend) -> Tiles:
    """The tiles that a kernel's formula is for.

    Raises:
        KeyError: No kernel has this name.
    """
    if backend == "cuda" and find_kernel(kernel).io == "fused":
        return Tiles(fused.ROWS, fused.key_tile(problem.head_dim))
    if backend == "cuda" and find_kernel(kernel).io == "flash3":
        usual = TILES[backend]
        return usual._replace(block_q=min(usual.block_q, share(problem).shape.rows))
    return TILES[backend]


def standard_io(problem: Problem, tiles: Tiles) -> int:
    """FA1, Algorithm 0 and Theorem 2, Θ(Nd + N²): S written and read, P written and read, GEMM tiles.

    Of a blocked GEMM each tile reads its rows of Q and its keys of K, or its keys of V; O passes once. A
    tile of which the masks keep no pair does not exist; of S the softmax reads the kept pairs alone. Heads
    that share K and V each read them.
    """
    return _standard_io(problem, tiles, problem.itemsize)


def standard_fp32s_io(problem: Problem, tiles: Tiles) -> int:
    """The same with S in float32."""
    return _standard_io(problem, tiles, FLOAT32)


def _standard_io(problem: Problem, tiles: Tiles, score_itemsize: int) -> int:
    d, visited_rows, visited_keys = problem.head_dim, 0, 0
    for rows, blocks in _visited(problem, tiles):
        visited_rows += rows * len(blocks)
        visited_keys += _keys(problem, tiles, blocks)
    elements = (visited_rows + 2 * visited_keys + problem.seqlen_q) * d
    a_head = elements * problem.itemsize + problem.seqlen_q * LSE_ITEMSIZE
    scores, weights = _matrices(problem, tiles, score_itemsize)
    return problem.batch * problem.heads * a_head + sum(scores) + sum(weights)


def _padding_bytes(problem: Problem) -> int:
    """O = 0 and LSE = -inf, written into each row that is padding or meets no key."""
    return problem.output_bytes - sum(count * one.output_bytes for one, count in problem.alike.items())


class Passed(NamedTuple):
    """Bytes of a matrix that one launch writes and another reads, over all heads."""

    written: int
    read: int


def _matrices(problem: Problem, tiles: Tiles, score_itemsize: int) -> tuple[Passed, Passed]:
    """S, written by tiles and read pair by pair, and P, written and read by tiles."""
    heads = problem.batch * problem.heads
    cells = sum(rows * _keys(problem, tiles, blocks) for rows, blocks in _visited(problem, tiles))
    of_tiles = heads * cells
    weights = Passed(of_tiles * problem.itemsize, of_tiles * problem.itemsize)
    return Passed(of_tiles * score_itemsize, heads * problem.kept_pairs * score_itemsize), weights


def flash1_io(problem: Problem, tiles: Tiles) -> int:
    """FA1, Algorithm 1 and Theorem 2, Θ(N²d²/M): K and V once; for each key block Q, and O, m, l twice.

    O is held in float32 between key blocks. Tiles of which the masks keep no pair are not visited, and key
    blocks without any tile not loaded. Heads that share K and V each load them.
    """
    d = problem.head_dim
    state = 2 * d * FLOAT32 + 4 * FLOAT32  # a row's O, m and l, read and written
    visited, loaded = 0, set[int]()
    for count, blocks in _visited(problem, tiles):
        visited += count * len(blocks)
        loaded.update(blocks)
    rows, keys = problem.seqlen_q, _keys(problem, tiles, loaded)
    once = 2 * keys * d * problem.itemsize + rows * (d * problem.itemsize + LSE_ITEMSIZE)
    return problem.batch * problem.heads * (once + visited * (d * problem.itemsize + state))


def flash2_io(problem: Problem, tiles: Tiles) -> int:
    """FA2, Algorithm 1: Q and O once; for each query block the key blocks of which the masks keep a pair.

    Heads that share K and V each load them.
    """
    d = problem.head_dim
    visited = sum(_keys(problem, tiles, blocks) for _, blocks in _visited(problem, tiles))
    rows = problem.seqlen_q
    once = 2 * rows * d * problem.itemsize + rows * LSE_ITEMSIZE
    return problem.batch * problem.heads * (once + 2 * visited * d * problem.itemsize)


def flash3_io(problem: Problem, tiles: Tiles) -> int:
    """The same, but that heads in one tile load K and V once, and results of parts pass twice in float32.

    How the problem is shared is `kernels.flash3_share`; a part's row has O, m and l.
    """
    chosen = share(problem)
    parts = 2 * chosen.splits * (problem.head_dim + 2) * FLOAT32 if chosen.splits > 1 else 0
    return _packed_io(problem, tiles, chosen.packed) + problem.rows * parts


def _packed_io(problem: Problem, tiles: Tiles, packed: int) -> int:
    """`flash2_io` with so many heads taken as one of as many times the rows: all load what one needs."""
    if packed == 1:
        return flash2_io(problem, tiles)
    one_tile = tiles._replace(block_q=problem.seqlen_q)
    row = 2 * problem.head_dim * problem.itemsize + LSE_ITEMSIZE
    heads = problem.batch * problem.heads // packed
    loads = flash2_io(problem, one_tile) // packed - heads * problem.seqlen_q * row
    return problem.rows * row + loads * ceil(problem.seqlen_q * packed / tiles.block_q)


def flash3_fp8_io(problem: Problem, tiles: Tiles) -> int:
    """A pass that reads Q, K and V and writes them in 8 bits; then FA2, Algorithm 1, on those."""
    in_8_bits = problem.input_bytes // problem.itemsize
    o_and_q = problem.rows * problem.head_dim * (problem.itemsize + 1) + problem.rows * LSE_ITEMSIZE
    visited = sum(_keys(problem, tiles, blocks) for _, blocks in _visited(problem, tiles))
    keys = problem.batch * problem.heads * 2 * visited * problem.head_dim
    return problem.input_bytes + in_8_bits + o_and_q + keys


FORMULAS = {
    "standard": standard_io,
    "standard-fp32s": standard_fp32s_io,
    "fused": flash2_io,  # with few query rows to a block, see tiles_of
    "flash1": flash1_io,
    "flash2": flash2_io,
    "flash3": flash3_io,
    "flash3-fp8": flash3_fp8_io,
}
"""The tile-level IO by the name that a KernelSpec gives (`io`)."""


def compulsory_dram_bytes(kernel: str, problem: Problem, backend: Backend, cache_bytes: int = 0) -> int:
    """Bytes that cross the bus of the memory on account of a forward pass: inputs and outputs once, S and P.

    Sequences of different lengths are counted as if one came after the other.

    `standard` makes S of all heads before it reads any of it, and P likewise: both are written, at the latest
    when other data take their place, and read again as far as the cache has lost them. Assumes that the masks
    keep every key for some query, so that all of K and V is needed.

    Args:
        kernel: By name.
        problem: What it computes, forward.
        backend: Where.
        cache_bytes: Size of the last cache before the memory, for all heads together.

    Raises:
        KeyError: No kernel has this name.
    """
    if "ragged" in problem.features:
        asked, alike = (backend, cache_bytes), problem.alike.items()
        own = sum(count * compulsory_dram_bytes(kernel, one, *asked) for one, count in alike)
        return own + _padding_bytes(problem)
    once = structs.replace(problem, page_size=None).input_bytes + problem.output_bytes
    spec = find_kernel(kernel)
    if spec.family != "standard":
        return once
    score_itemsize = FLOAT32 if spec.io == "standard-fp32s" else problem.itemsize
    scores, weights = _matrices(_as_computed(spec, problem, backend), TILES[backend], score_itemsize)
    kept = _kept(scores, weights, cache_bytes), _kept(weights, scores, cache_bytes)
    read = scores.read * (1 - kept[0]) + weights.read * (1 - kept[1])
    return once + scores.written + weights.written + round(read)


def _kept(matrix: Passed, other: Passed, cache_bytes: int) -> float:
    """The share of a matrix that a cache which drops what is oldest still has when it is read.

    Between the moment when a row of S is written and that when it is read, all of S passes, and of P the rows
    before it; between those of a row of P all of P, and of S the rows behind it.
    """
    room = cache_bytes - matrix.written
    return min(1.0, max(0.0, room / other.written)) if other.written else 1.0


def _as_computed(spec: KernelSpec, problem: Problem, backend: Backend) -> Problem:
    """The problem with those masks alone by which the kernel leaves work out."""
    if backend == "cuda" or (spec.family != "standard" and spec.io != "fused"):
        return problem
    return structs.replace(problem, causal=False, window=None, block_mask=None)


def arithmetic_intensity(problem: Problem, moved_bytes: float) -> float:
    """FLOP a byte moved; say which bytes (L2 or DRAM) next to the figure (Williams et al. 2009)."""
    return problem.flops / moved_bytes


def roofline_tflops(intensity: float, peak_tflops: float, bandwidth_gbs: float) -> float:
    """The ceiling min(peak, bandwidth x intensity), TFLOP/s, from GB/s (decimal) and FLOP/byte."""
    return min(peak_tflops, bandwidth_gbs * intensity / 1e3)


def _visited(problem: Problem, tiles: Tiles) -> Iterator[tuple[int, Sequence[int]]]:
    """For each query block its rows, and the key blocks of which the masks keep a pair."""
    mask = problem.mask
    for start in range(0, problem.seqlen_q, tiles.block_q):
        rows = slice(start, min(start + tiles.block_q, problem.seqlen_q))
        first = max(0, rows.start + mask.lowest) // tiles.block_k
        stop = ceil(min(problem.seqlen_k, rows.stop + mask.highest) / tiles.block_k)
        blocks: Sequence[int] = range(first, stop)
        if mask.blocks is not None:
            blocks = [j for j in blocks if mask.keeps(rows, _span(problem, tiles, j))]
        yield rows.stop - rows.start, blocks


def _keys(problem: Problem, tiles: Tiles, blocks: Collection[int]) -> int:
    """Keys of these key blocks, of which only the last may be shorter."""
    last = (problem.seqlen_k - 1) // tiles.block_k
    missing = (last + 1) * tiles.block_k - problem.seqlen_k
    return len(blocks) * tiles.block_k - (missing if last in blocks else 0)


def _span(problem: Problem, tiles: Tiles, j: int) -> slice:
    return slice(j * tiles.block_k, min((j + 1) * tiles.block_k, problem.seqlen_k))
