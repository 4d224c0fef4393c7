"""What the loops of kernels move between the SMs and L2, by formula: the tile-level IO.

On the CPU that is what moves between the last cache and the tile that is computed. A kernel names its formula
(`KernelSpec.traffic`); `flashscope.profiles.results.theory` asks it. What masks leave out is not counted, as
far as a kernel leaves it out: on a GPU every kernel here skips tiles that they empty; on the CPU `standard`
and `fused` compute and read whole matrices.

Sources:
    FA1: Dao, Fu, Ermon, Rudra, Ré, "FlashAttention", 2022: Algorithms 0 and 1, Theorem 2.
    FA2: Dao, "FlashAttention-2", 2023: Algorithm 1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from msgspec import structs

from flashscope.kernels.catalogue import fused, workspace
from flashscope.kernels.catalogue.flash3_share import share
from flashscope.kernels.workload.problem import LSE_ITEMSIZE, Backend, Problem
from flashscope.kernels.workload.walk import Walk, loaded, walks

FLOAT32 = 4


class Tiles(NamedTuple):
    """Tile sizes: Br query rows, Bc key rows."""

    block_q: int = 128
    block_k: int = 64


TILES: dict[Backend, Tiles] = {
    "cuda": Tiles(),  # of the CUDA kernels here while the head dim is at most 64
    "cpu": Tiles(workspace.CPU_BLOCK_Q, workspace.CPU_BLOCK_K),
}


class Passed(NamedTuple):
    """Bytes of a matrix that one launch writes and another reads, over all heads."""

    written: int
    read: int


@dataclass(frozen=True)
class LoopTraffic:
    """What the loops of a kernel's forward pass move.

    Attributes:
        formula: The bytes of a problem whose sequences are alike, in tiles of a size.
        tiles: The tiles that the formula is for.
        matrices: S and P, if they pass through memory.
        state_in_memory: Whether the kernel passes on more through memory than S and P.
        uneven: Whether the formula holds for a GPU's share of an uneven batch, sequence by sequence.
        skips_on_cpu: Whether masks leave work out on the CPU, too.
    """

    formula: Callable[[Problem, Tiles], int]
    tiles: Callable[[Problem, Backend], Tiles] = lambda _, backend: TILES[backend]
    matrices: Callable[[Problem, Tiles], tuple[Passed, Passed]] | None = None
    state_in_memory: bool = False
    uneven: bool = True
    skips_on_cpu: bool = True

    def nbytes(self, problem: Problem, backend: Backend, tiles: Tiles) -> int:
        """The formula's bytes, of a problem whose sequences are alike."""
        return self.formula(self.as_computed(problem, backend), tiles)

    def passed_on(self, problem: Problem, backend: Backend) -> tuple[Passed, Passed]:
        """S and P; nothing of either where the kernel does not pass them through memory."""
        if self.matrices is None:
            return Passed(0, 0), Passed(0, 0)
        return self.matrices(self.as_computed(problem, backend), TILES[backend])

    def as_computed(self, problem: Problem, backend: Backend) -> Problem:
        """The problem with those masks alone by which the kernel leaves work out."""
        if backend == "cuda" or self.skips_on_cpu:
            return problem
        return structs.replace(problem, causal=False, window=None, block_mask=None)


def standard_io(problem: Problem, tiles: Tiles) -> int:
    """FA1, Algorithm 0 and Theorem 2, Θ(Nd + N²): S written and read, P written and read, GEMM tiles.

    Of a blocked GEMM each tile reads its rows of Q and its keys of K, or its keys of V; O passes once. A
    tile of which the masks keep no pair does not exist; of S the softmax reads the kept pairs alone. Heads
    that share K and V each read them.
    """
    return _gemm_io(problem, tiles) + _sum(matrices(problem, tiles))


def standard_fp32s_io(problem: Problem, tiles: Tiles) -> int:
    """`standard_io` with S in float32."""
    return _gemm_io(problem, tiles) + _sum(matrices_fp32s(problem, tiles))


def _gemm_io(problem: Problem, tiles: Tiles) -> int:
    """What the two products of `standard_io` read besides P, and O and LSE."""
    d, dv, found = problem.head_dim, problem.value_dim, walks(problem.mask, *tiles)
    visited_rows = sum(one.rows * one.blocks for one in found)
    visited_keys = _keys(problem, tiles, found)
    elements = visited_rows * d + visited_keys * (d + dv) + problem.seqlen_q * dv
    a_head = elements * problem.itemsize + problem.seqlen_q * LSE_ITEMSIZE
    return problem.batch * problem.heads * a_head


def matrices(problem: Problem, tiles: Tiles) -> tuple[Passed, Passed]:
    """S, written by tiles and read pair by pair, and P, written and read by tiles."""
    return _matrices(problem, tiles, problem.itemsize)


def matrices_fp32s(problem: Problem, tiles: Tiles) -> tuple[Passed, Passed]:
    """S and P as `matrices` counts them, with S in float32."""
    return _matrices(problem, tiles, FLOAT32)


def _matrices(problem: Problem, tiles: Tiles, score_itemsize: int) -> tuple[Passed, Passed]:
    heads = problem.batch * problem.heads
    cells = sum(one.rows * _keys(problem, tiles, [one]) for one in walks(problem.mask, *tiles))
    of_tiles = heads * cells
    weights = Passed(of_tiles * problem.itemsize, of_tiles * problem.itemsize)
    return Passed(of_tiles * score_itemsize, heads * problem.kept_pairs * score_itemsize), weights


def _sum(passed: tuple[Passed, Passed]) -> int:
    return sum(map(sum, passed))


def flash1_io(problem: Problem, tiles: Tiles) -> int:
    """FA1, Algorithm 1 and Theorem 2, Θ(N²d²/M): K and V once; for each key block Q, and O, m, l twice.

    O is held in float32 between key blocks. Tiles of which the masks keep no pair are not visited, and key
    blocks without any tile not loaded. Heads that share K and V each load them.
    """
    d, dv = problem.head_dim, problem.value_dim
    state = 2 * dv * FLOAT32 + 4 * FLOAT32  # a row's O, m and l, read and written
    visited = sum(one.rows * one.blocks for one in walks(problem.mask, *tiles))
    blocks, last = loaded(problem.mask, *tiles)
    rows, keys = problem.seqlen_q, blocks * tiles.block_k - last * _missing(problem, tiles)
    once = keys * (d + dv) * problem.itemsize + rows * (dv * problem.itemsize + LSE_ITEMSIZE)
    return problem.batch * problem.heads * (once + visited * (d * problem.itemsize + state))


def flash2_io(problem: Problem, tiles: Tiles) -> int:
    """FA2, Algorithm 1: Q and O once; for each query block the key blocks of which the masks keep a pair.

    Heads that share K and V each load them.
    """
    row_of_each = (problem.head_dim + problem.value_dim) * problem.itemsize  # of Q and O, or of K and V
    visited = _keys(problem, tiles, walks(problem.mask, *tiles))
    once = problem.seqlen_q * (row_of_each + LSE_ITEMSIZE)
    return problem.batch * problem.heads * (once + visited * row_of_each)


def flash3_io(problem: Problem, tiles: Tiles) -> int:
    """`flash2_io`, but that heads in one tile load K and V once, and results of parts pass twice in float32.

    How the problem is shared is `kernels.catalogue.flash3_share`; a part's row has O, m and l.
    """
    chosen = share(problem)
    parts = 2 * chosen.splits * (problem.value_dim + 2) * FLOAT32 if chosen.splits > 1 else 0
    return _packed_io(problem, tiles, chosen.pack_gqa) + problem.rows * parts


def _packed_io(problem: Problem, tiles: Tiles, packed: int) -> int:
    """`flash2_io` with so many heads taken as one of as many times the rows: all load what one needs."""
    if packed == 1:
        return flash2_io(problem, tiles)
    one_tile = tiles._replace(block_q=problem.seqlen_q)
    row = (problem.head_dim + problem.value_dim) * problem.itemsize + LSE_ITEMSIZE
    heads = problem.batch * problem.heads // packed
    loads = flash2_io(problem, one_tile) // packed - heads * problem.seqlen_q * row
    return problem.rows * row + loads * ceil(problem.seqlen_q * packed / tiles.block_q)


def flash3_fp8_io(problem: Problem, tiles: Tiles) -> int:
    """A pass that reads Q, K and V and writes them in 8 bits; then FA2, Algorithm 1, on those."""
    in_8_bits = problem.input_bytes // problem.itemsize
    o_and_q = problem.rows * problem.head_dim * (problem.itemsize + 1) + problem.rows * LSE_ITEMSIZE
    visited = _keys(problem, tiles, walks(problem.mask, *tiles))
    keys = problem.batch * problem.heads * 2 * visited * problem.head_dim
    return problem.input_bytes + in_8_bits + o_and_q + keys


def _fused_tiles(problem: Problem, backend: Backend) -> Tiles:
    """On a GPU few query rows to a block, whose scores fill the shared memory."""
    return Tiles(fused.ROWS, fused.key_tile(problem.head_dim)) if backend == "cuda" else TILES[backend]


def _flash3_tiles(problem: Problem, backend: Backend) -> Tiles:
    """The usual ones, or as many query rows as flash3 takes on a GPU where that is fewer."""
    usual = TILES[backend]
    if backend == "cpu":
        return usual
    return usual._replace(block_q=min(usual.block_q, share(problem).shape.rows))


def _keys(problem: Problem, tiles: Tiles, found: Iterable[Walk]) -> int:
    """Keys of the key blocks that are visited, of which only the last may be shorter."""
    missing = _missing(problem, tiles)
    return sum(one.blocks * tiles.block_k - one.lasts * missing for one in found)


def _missing(problem: Problem, tiles: Tiles) -> int:
    """Keys that the last key block lacks."""
    return -problem.seqlen_k % tiles.block_k


STANDARD = LoopTraffic(standard_io, matrices=matrices, skips_on_cpu=False)
STANDARD_FP32S = LoopTraffic(standard_fp32s_io, matrices=matrices_fp32s, skips_on_cpu=False)
FUSED = LoopTraffic(flash2_io, tiles=_fused_tiles, skips_on_cpu=False)
FLASH1 = LoopTraffic(flash1_io, state_in_memory=True)
FLASH2 = LoopTraffic(flash2_io)
FLASH3 = LoopTraffic(flash3_io, tiles=_flash3_tiles, uneven=False)
FLASH3_FP8 = LoopTraffic(flash3_fp8_io, state_in_memory=True, uneven=False)
