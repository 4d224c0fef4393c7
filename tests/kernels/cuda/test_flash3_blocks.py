"""The tables flash3 takes a block mask from hold every kept pair once, and no others: without a GPU."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.catalogue.workspace import (
    KEPT_KEYS,
    KEY_TILES,
    PARTIAL_O,
    PARTIAL_SUMS,
    QUERY_TILES,
    TILE_ORDER,
)
from flashscope.kernels.cuda import flash3
from flashscope.kernels.cuda.flash3_blocks import covers
from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS, Program, Target, TileSize
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from tests.kernels.masked import block_masked, kept
from tests.matrix import in_rounds

HOPPER = Target((9, 0), SHARED_MEMORY_LIMITS[9, 0], multiprocessors=132)
ANY, UNITS = st.integers(1, 300), st.integers(1, 40).map(lambda units: 8 * units)
PROBLEMS = block_masked(400, FLASH3.head_dims["cuda"], block_q=ANY, block_k=UNITS)


def tile_of(program: Program) -> TileSize:
    return TileSize(64 * program.defines["GROUPS"], program.defines["BLOCK_K"])


def pairs_computed(problem: Problem, program: Program) -> npt.NDArray[np.int_]:
    """How often each pair (Nq, Nk) is computed: the tables read as the kernel reads them."""
    tile, band = tile_of(program), problem.mask
    query_tiles, lists, bits = (program.tables[name] for name in (QUERY_TILES, KEY_TILES, KEPT_KEYS))
    units = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little").astype(bool)
    rows_of_units = units[np.arange(problem.seqlen_q) // program.defines["BLOCK_ROWS"]]
    q, k = np.ogrid[: problem.seqlen_q, : problem.seqlen_k]
    seen = (k - q >= band.lowest) & (k - q <= band.highest) & rows_of_units.repeat(8, axis=1)[:, : k.size]
    computed = np.zeros(seen.shape, int)
    for first, whole, steps, start in query_tiles[: -(-problem.seqlen_q // tile.q)]:
        rows = slice(first, first + tile.q)
        for step, key in enumerate(lists.ravel()[start : start + steps]):
            columns = slice(key, key + tile.k)
            computed[rows, columns] += 1 if step < whole else seen[rows, columns]
    return computed


@in_rounds(3)
@settings(max_examples=14, deadline=None)
@given(PROBLEMS)
def test_every_kept_pair_is_computed_once_and_no_other(turn: int, problem: Problem) -> None:
    assert (pairs_computed(problem, flash3.program(problem, HOPPER)) == kept(problem)).all()


@settings(max_examples=40, deadline=None)
@given(PROBLEMS)
def test_every_tile_is_drawn_once_and_a_head_s_longest_first(problem: Problem) -> None:
    problem = structs.replace(problem, heads=3)
    program = flash3.program(problem, HOPPER)
    order, steps = program.tables[TILE_ORDER], program.tables[QUERY_TILES][:, 2]
    tiles = -(-problem.seqlen_q // tile_of(program).q)
    drawn = order[: 3 * tiles].tolist()
    assert sorted(drawn) == [[head, tile] for head in range(3) for tile in range(tiles)]
    for wanted in range(3):
        assert (np.diff([steps[tile] for head, tile in drawn if head == wanted]) <= 0).all()


def test_a_tile_far_longer_than_the_others_is_drawn_before_all_other_heads() -> None:
    """Else the last head's would run on alone."""
    kept_blocks = np.eye(8, dtype=bool)
    kept_blocks[5] = True
    order = flash3.program(plain(kept_blocks, 128, heads=4), HOPPER).tables[TILE_ORDER]
    assert order[:4].tolist() == [[head, 5] for head in range(4)]


@settings(max_examples=40, deadline=None)
@given(PROBLEMS)
def test_the_tables_are_those_the_workspace_predicts(problem: Problem) -> None:
    predicted = {buffer.name: (buffer.shape, buffer.nbytes) for buffer in FLASH3.workspace(problem, "cuda")}
    tables = flash3.program(problem, HOPPER).tables
    for name in (PARTIAL_O, PARTIAL_SUMS):  # of keys in parts: written, not read
        predicted.pop(name, None)
    assert {name: (table.shape, table.nbytes) for name, table in tables.items()} == predicted


def plain(kept_blocks: Any, block: int, **kind: Any) -> Problem:
    rows, columns = np.shape(kept_blocks)
    return Problem(
        seqlen_q=rows * block,
        seqlen_k=columns * block,
        head_dim=128,
        dtype="bfloat16",
        block_mask=BlockMask.of(kept_blocks, block, block),
        **kind,
    )


def test_blocks_as_large_as_tiles_need_no_mask() -> None:
    problem = plain([[True, False, True], [False, False, False]], 128)
    assert problem.block_mask is not None
    first, second = covers(problem, problem.block_mask, TileSize(128, 128))
    assert (first.whole, first.masked) == ([0, 256], [])
    assert second.steps == 0


def test_a_tile_may_begin_anywhere_and_reach_over_a_gap() -> None:
    problem = plain([[False, True, False, True, True, True]], 32)
    assert problem.block_mask is not None
    (cover,) = covers(problem, problem.block_mask, TileSize(32, 64))
    assert (cover.whole, cover.masked) == ([96], [32, 160])


def test_the_tile_follows_the_blocks() -> None:
    """Long stretches take the dense kernel's 176 keys, single blocks of 128 take as many."""
    everything, scattered = np.ones((88, 88), bool), np.tile([True, False], (88, 44))
    assert tile_of(flash3.program(plain(everything, 128), HOPPER)).k == 176
    assert tile_of(flash3.program(plain(scattered, 128), HOPPER)).k == 128
    assert tile_of(flash3.program(plain(scattered, 64), HOPPER)).k == 64


def test_blocks_of_other_than_multiples_of_8_keys_are_refused() -> None:
    mask = BlockMask.random(100, 100, block_q=10, block_k=20, kept_share=0.5)
    problem = Problem(seqlen_q=100, seqlen_k=100, dtype="bfloat16", block_mask=mask)
    with pytest.raises(InputError, match=r"multiples of 8 keys wide.*not 10 x 20"):
        flash3.program(problem, HOPPER)
