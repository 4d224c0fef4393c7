"""flash3, backward, on CUDA: rows, blocks that own tiles of keys, conversion of dQ; on Hopper alone."""

import heapq
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.flash3_share import SMS
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace import TILE_COUNTER
from flashscope.kernels.catalogue.workspace_backward import (
    ADDED,
    DQ_SUMS,
    NARROW_HEAD,
    ROW_STATES,
    WIDE_HEAD,
    ZEROED,
    flash3_tile_q,
    flash3_zeroes_ahead,
)
from flashscope.kernels.catalogue.workspace_backward import FLASH3_KEYS as KEYS
from flashscope.kernels.cuda.backward import bind, mask_defines
from flashscope.kernels.cuda.flash3_backward_blocks import tables_of
from flashscope.kernels.cuda.program import (
    Boxes,
    KernelLaunch,
    Program,
    Struct,
    Target,
    TileSize,
    ceil_div,
    defines_of,
    shape_arguments,
)
from flashscope.kernels.cuda.scoring import (
    scoring_arguments,
    scoring_defines,
    slope_table,
    without_sinks,
)
from flashscope.kernels.cuda.tensor import SWIZZLE_WIDTH, tile_bytes
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved

THREADS = 384  # flash3_backward_layout.cuh
STAGES = 2
PRODUCT_ROWS = 64
TURNED_GAP_BYTES = 16  # between rows of dQ in shared memory while it is turned: flash3_backward_rows.cuh
PAIR, MANY_STAGES_HEAD = 2, 192  # flash3_backward_wide_layout.cuh
SHARED_ALIGNMENT, BARRIER_BYTES, TURN_BYTES, ZERO_BYTES, LATE_BYTES = 1024, 160, 32, 16, 16
SECTION_BYTES, LATE_SECTION_BYTES = 32 << 20, 16 << 20
"""Q, dO and the sums of dQ of the heads whose tiles are taken together (H200, 50 MiB of L2); the second where
tiles are drawn late, so that small sections cost little balance (H100)."""
WIDER_SECTIONS, WIDER_COST, EVEN_SHARE = (1, 2, 4), 0.06, 0.7
"""Times as many grouped heads a section may have as its bytes say, to end more evenly: the exponents of how
much wider it is and of when the last block ends, in the time of a pass (H100)."""
TILE_STEPS = 5  # what a tile of keys takes besides its steps, in steps
ZERO_WARPS = 2  # those of a block that zero sums: flash3_backward_zeros.cuh
ZEROED_TILES = 2 * 132
"""Tiles of keys during which the next sums of dQ are zeroed: two rounds of blocks on an H200."""
MANY_TILES, FEW_STEPS, FEW_TURNED_STEPS = 15, 16, 64
"""From so many tiles an SM on blocks that stay win; at head dim 128 if steps are so few, or alike (H200)."""


class QueryTiling(NamedTuple):
    """How a tile of queries passes by, up to head dim 128.

    Attributes:
        rows: Queries of a tile.
        key_stages: Tiles of K, and of V, in shared memory.
    """

    rows: int
    key_stages: int

    @property
    def turned(self) -> bool:
        """Whether dQ is computed turned over, columns by rows: rows are no multiple of those of a product."""
        return self.rows % PRODUCT_ROWS > 0

    @classmethod
    def of(cls, rows: int) -> "QueryTiling":
        """With the stages of keys that the source has by itself: as many as fit at head dim 128."""
        return cls(rows, 1 if rows % PRODUCT_ROWS else STAGES)

    @property
    def row_threads(self) -> int:
        """Threads of a block of the first launch and the last: whole rows each time, and 8 threads a row."""
        return 4 * self.rows if self.turned else 256


class ZeroedAhead(NamedTuple):
    """What the launches are given of sums of dQ that the main one zeroes; nothing if the first does it all.

    Attributes:
        heads: Query heads whose sums the first launch zeroes.
        shares: Parts of a section's sums, each taken by a warp.
        together: K/V heads of a section.
        counters: The name of their buffer, if it is there.
    """

    heads: np.int32 = np.int32(0)
    shares: np.int32 = np.int32(0)
    together: np.int32 = np.int32(0)
    counters: tuple[str, ...] = ()


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Compile for the current device, allocate the gradients and the workspace, and bind them."""
    return bind(spec, problem, saved, program)


def query_cut(problem: Problem) -> QueryTiling:
    """How tiles of queries pass by where nothing else is asked for.

    Of 64 queries at head dim 128 the next keys wait in a second stage only where that won: not where a tile
    of keys is drawn late, nor beside values of another head dim, which leave no registers for it.
    """
    cut = QueryTiling.of(flash3_tile_q(problem))
    narrow = "head_dim_v" in problem.features and problem.head_dim <= WIDE_HEAD
    one = cut.rows == PRODUCT_ROWS and (narrow or drawn_late(problem))
    return cut._replace(key_stages=1) if one else cut


def program(problem: Problem, target: Target, cut: QueryTiling | None = None) -> Program:
    """Source, defines and the three launches for a problem.

    Args:
        problem: What is computed.
        target: The GPU.
        cut: Another tile of queries than is best, up to head dim 128; the workspace goes by it, too.

    Raises:
        InputError: No bits describe the block mask.
    """
    cut = cut or query_cut(problem)
    tile_q, threads = cut.rows, cut.row_threads
    heads, tiles_q = problem.batch * problem.heads, ceil_div(problem.seqlen_q, tile_q)
    scale, rows = np.float32(problem.softmax_scale), (np.int32(tiles_q), np.int32(problem.seqlen_q))
    added = (ADDED,) if problem.deterministic else ()
    ahead = _zeroed_ahead(problem)
    tables = tables_of(problem, TileSize(tile_q, KEYS))
    wide = problem.head_dim > WIDE_HEAD
    launches = (
        KernelLaunch(
            "flash3_backward_rows",
            grid=heads * tiles_q,
            arguments=(
                "output",
                "grad_output",
                "lse",
                ROW_STATES,
                DQ_SUMS,
                TILE_COUNTER,
                *rows,
                ahead.heads,
                Struct((*added, *ahead.counters)),
            ),
            threads=threads,
        ),
        _pairs(problem)
        if wide
        else _draws(problem, target, cut, ahead, Struct((*tables, *added, *ahead.counters))),
        KernelLaunch(
            "flash3_backward_finish",
            grid=heads * tiles_q,
            arguments=(DQ_SUMS, "dq", *rows, scale),
            threads=threads,
            shared_bytes=turned_bytes(problem, cut),
            pdl=True,
        ),
    )
    source = "flash3_backward_wide.cu" if wide else "flash3_backward.cu"
    own = {"TILE_Q": tile_q, "DETERMINISTIC": int(problem.deterministic)}
    if cut != QueryTiling.of(tile_q):
        own["STAGES_OF_KEYS"] = cut.key_stages
    scored = scoring_defines(without_sinks(problem))
    defines = {**defines_of(problem), **mask_defines(problem), **scored, **own}
    return Program(source, defines, launches, {**tables, **slope_table(problem)}, arch_suffix="a")


def _draws(
    problem: Problem, target: Target, cut: QueryTiling, ahead: ZeroedAhead, special: Struct
) -> KernelLaunch:
    """The main launch up to head dim 128: blocks that draw tiles of 128 keys."""
    tiles = _key_tiles(problem)
    return KernelLaunch(
        "flash3_backward",
        grid=grid_blocks(problem, cut, tiles, target.multiprocessors or tiles),
        arguments=(
            *_boxes(cut.rows, KEYS),
            *(ROW_STATES, DQ_SUMS, "dk", "dv", TILE_COUNTER),
            *(*_numbers(problem), ahead.shares, ahead.together, special),
            *scoring_arguments(without_sinks(problem)),
        ),
        threads=THREADS,
        shared_bytes=shared_bytes(problem, cut),
        pdl=True,
    )


def _pairs(problem: Problem) -> KernelLaunch:
    """The main launch beyond: a pair of blocks for 128 keys, each loading half of a tile of queries."""
    return KernelLaunch(
        "flash3_backward_wide",
        grid=PAIR * _key_tiles(problem),
        arguments=(
            *_boxes(flash3_tile_q(problem) // PAIR, KEYS // PAIR),
            *(ROW_STATES, DQ_SUMS, "dk", "dv", *_numbers(problem)),
            *scoring_arguments(without_sinks(problem)),
            *((TILE_COUNTER, ADDED) if problem.deterministic else ()),
        ),
        threads=THREADS,
        shared_bytes=wide_shared_bytes(problem),
        pdl=True,
    )


def _key_tiles(problem: Problem) -> int:
    return problem.batch * problem.key_heads * ceil_div(problem.seqlen_k, KEYS)


def _boxes(rows: int, keys: int) -> tuple[Boxes, ...]:
    return (Boxes("q", rows), Boxes("k", keys), Boxes("v", keys), Boxes("grad_output", rows))


def _numbers(problem: Problem) -> tuple[Any, ...]:
    group, *lengths = shape_arguments(problem)
    heads = np.int32(problem.batch * problem.key_heads), group
    together = np.int32(section(problem))
    return (*heads, together, *lengths, np.float32(problem.softmax_scale))


def turned_bytes(problem: Problem, cut: QueryTiling) -> int:
    """Shared memory of a block of the last launch: a tile of dQ, if it is turned over there."""
    row = problem.head_dim * problem.itemsize + TURNED_GAP_BYTES
    return cut.rows * row if cut.turned else 0


def shared_bytes(problem: Problem, cut: QueryTiling) -> int:
    """Shared memory of a block: K and V, stages of Q, dO, rows' states and dS, barriers, alignment."""
    tiles = tile_bytes(2 * cut.key_stages * KEYS + 2 * STAGES * cut.rows, problem.head_dim)
    weights = 2 * KEYS * cut.rows * problem.itemsize
    more = TURN_BYTES * problem.deterministic + ZERO_BYTES * flash3_zeroes_ahead(problem)
    more += LATE_BYTES * drawn_late(problem)
    return tiles + weights + STAGES * cut.rows * 8 + BARRIER_BYTES + more + SHARED_ALIGNMENT


def wide_shared_bytes(problem: Problem) -> int:
    """The same for wide heads: also the other block's K for half of dQ, and P or dS of either block twice."""
    tile_q, keys = flash3_tile_q(problem), KEYS // PAIR
    q_tiles, grad_tiles = (2, 1.5) if problem.head_dim > MANY_STAGES_HEAD else (3, 2)
    tiles = tile_bytes(2 * keys + int((q_tiles + grad_tiles) * tile_q), problem.head_dim)
    pair = tile_bytes(keys, 2 * SWIZZLE_WIDTH) + 4 * tile_bytes(keys, tile_q)
    more = TURN_BYTES * problem.deterministic
    return tiles + pair + q_tiles * tile_q * 8 + BARRIER_BYTES + more + SHARED_ALIGNMENT


def grid_blocks(problem: Problem, cut: QueryTiling, tiles: int, multiprocessors: int) -> int:
    """One a multiprocessor, which then draws further tiles of keys; or one a tile.

    Where tiles are not drawn late, a block that stays draws its next one as it begins one, so that few or
    long tiles end unevenly; and those that wait for one of unlike length would wait for what its block has to
    finish before.
    """
    if drawn_late(problem):
        return min(multiprocessors, tiles)
    steps = problem.heads // problem.key_heads * ceil_div(problem.seqlen_q, cut.rows)
    few = steps <= (FEW_TURNED_STEPS if cut.turned else FEW_STEPS)
    alike = cut.turned and not _unlike(problem) and problem.window is None
    stay = tiles >= MANY_TILES * multiprocessors and (problem.head_dim <= NARROW_HEAD or few or alike)
    waits = problem.deterministic and (_unlike(problem) or problem.window is not None)
    return multiprocessors if stay and not waits else tiles


def section(problem: Problem) -> int:
    """K/V heads whose blocks are taken together; 1 where tiles are alike and in any order.

    The longest come first then, and of the tiles that add to the same sums fewer run at a time.
    """
    if not (_unlike(problem) or problem.deterministic):
        return 1
    heads, grouped = problem.batch * problem.key_heads, problem.heads > problem.key_heads
    most_bytes = LATE_SECTION_BYTES if drawn_late(problem) and not grouped else SECTION_BYTES
    held = max(1, min(heads, most_bytes // _head_bytes(problem)))
    plain = not problem.features - {"causal", "gqa"} and not problem.deterministic
    return _even_section(problem, held) if grouped and plain else held


def drawn_late(problem: Problem) -> bool:
    """Whether a block draws a tile of keys only when the one before is nearly loaded."""
    plain = problem.causal and problem.window is None and problem.block_mask is None
    return plain and not problem.deterministic and problem.head_dim <= WIDE_HEAD


@lru_cache(maxsize=64)
def _even_section(problem: Problem, held: int) -> int:
    """K/V heads of a section of grouped heads: more than `held` by the L2 where that ends more evenly.

    A group's tiles are few and long. Of a section of a head or two, which begins with its longest tiles, the
    last one ends long after most blocks have.
    """
    heads = problem.batch * problem.key_heads
    if _key_tiles(problem) >= MANY_TILES * SMS:
        return held
    alike = sorted({ceil_div(heads, ceil_div(heads, held * wider)) for wider in WIDER_SECTIONS})
    return min(alike, key=lambda one: last_end(problem, one) ** EVEN_SHARE * (one / held) ** WIDER_COST)


def last_end(problem: Problem, together: int) -> int:
    """When the last block ends under a causal mask, in steps, as each tile goes to the first free block."""
    tile_q, group = flash3_tile_q(problem), problem.heads // problem.key_heads
    heads, tiles_q = problem.batch * problem.key_heads, ceil_div(problem.seqlen_q, tile_q)
    shift = problem.seqlen_k - problem.seqlen_q
    steps = [
        group * (tiles_q - max(0, k0 - shift) // tile_q) + TILE_STEPS
        for k0 in range(0, problem.seqlen_k, KEYS)
    ]
    ends = [0] * (SMS // PAIR if problem.head_dim > WIDE_HEAD else SMS)
    for before in range(0, heads, together):
        for taken in steps:
            for _ in range(min(together, heads - before)):
                heapq.heapreplace(ends, ends[0] + taken)
    return max(ends)


def zeroed_together(problem: Problem) -> int:
    """K/V heads whose sums of dQ are zeroed together, while those before them are worked on.

    Whole sections, and of these enough for the zeroing to be ahead and few enough for the L2 to hold what is
    zeroed. The first launch zeroes the first such heads' sums: all of them, if there are no others.
    """
    together, keys = section(problem), ceil_div(problem.seqlen_k, KEYS)
    rounds = ceil_div(ZEROED_TILES, keys * together)
    return together * max(1, min(rounds, SECTION_BYTES // (_head_bytes(problem) * together)))


def _zeroed_ahead(problem: Problem) -> ZeroedAhead:
    if not flash3_zeroes_ahead(problem):
        return ZeroedAhead()
    together = zeroed_together(problem)
    group, keys = problem.heads // problem.key_heads, ceil_div(problem.seqlen_k, KEYS)
    shares = ZERO_WARPS * together * keys
    return ZeroedAhead(np.int32(group * together), np.int32(shares), np.int32(together), (ZEROED,))


def _head_bytes(problem: Problem) -> int:
    """Q, dO and the sums of dQ of a K/V head."""
    rows = problem.heads // problem.key_heads * problem.seqlen_q
    return rows * problem.head_dim * (2 * problem.itemsize + 4)


def _unlike(problem: Problem) -> bool:
    """Whether some tiles of keys are seen by many more queries than others."""
    return problem.causal or problem.block_mask is not None
