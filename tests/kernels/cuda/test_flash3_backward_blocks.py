"""A block mask's tables for flash3's backward pass hold every kept pair once and no others: without a GPU."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.catalogue.workspace import KEY_TILES, QUERY_TILES
from flashscope.kernels.catalogue.workspace_backward import KEPT_QUERIES
from flashscope.kernels.cuda import flash3_backward
from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS, Program, Target
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cases import in_mode
from tests.kernels.masked import block_masked, kept
from tests.matrix import in_rounds

assert FLASH3.backward is not None
HOPPER = Target((9, 0), SHARED_MEMORY_LIMITS[9, 0], multiprocessors=132)
KEYS = 128
ANY, UNITS = st.integers(1, 300), st.integers(1, 40).map(lambda units: 8 * units)
PROBLEMS = block_masked(600, (64, 128), block_q=UNITS, block_k=ANY)


def pairs_computed(problem: Problem, program: Program) -> npt.NDArray[np.int_]:
    """How often each pair (Nq, Nk) is computed: the tables read as the kernel reads them."""
    rows, band = program.defines["TILE_Q"], problem.mask
    key_tiles, query_tiles, bits = (program.tables[name] for name in (KEY_TILES, QUERY_TILES, KEPT_QUERIES))
    units = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little").astype(bool)
    columns_of_units = units[np.arange(problem.seqlen_k) // program.defines["MASK_BLOCK_K"]]
    unmasked = columns_of_units.repeat(8, axis=1)[:, : problem.seqlen_q].T
    q, k = np.ogrid[: problem.seqlen_q, : problem.seqlen_k]
    seen = (k - q >= band.lowest) & (k - q <= band.highest)
    computed = np.zeros(seen.shape, int)
    for (first, count), queries in zip(key_tiles, query_tiles, strict=True):
        for entry, _ in queries[:count]:
            place = slice(entry // 2 * rows, (entry // 2 + 1) * rows), slice(first, first + KEYS)
            computed[place] += seen[place] & (unmasked[place] if entry % 2 else True)
    return computed


@in_rounds(3)
@settings(max_examples=14, deadline=None)
@given(PROBLEMS)
def test_every_kept_pair_is_computed_once_and_no_other(turn: int, problem: Problem) -> None:
    assert (pairs_computed(problem, flash3_backward.program(problem, HOPPER)) == kept(problem)).all()


@settings(max_examples=40, deadline=None)
@given(PROBLEMS)
def test_turns_are_counted_in_the_order_in_which_key_tiles_are_drawn(problem: Problem) -> None:
    program = flash3_backward.program(in_mode(problem), HOPPER)
    key_tiles, query_tiles = program.tables[KEY_TILES], program.tables[QUERY_TILES]
    assert sorted(key_tiles[:, 0]) == list(range(0, problem.seqlen_k, KEYS))
    assert (np.diff(key_tiles[:, 1]) <= 0).all()
    added = np.zeros(query_tiles.shape[1], int)
    for (_, count), queries in zip(key_tiles, query_tiles, strict=True):
        tiles = queries[:count, 0] // 2
        assert (np.diff(tiles) < 0).all()
        assert (queries[:count, 1] == added[tiles]).all()
        added[tiles] += 1


@pytest.mark.matrix  # it takes seconds
def test_tiles_need_not_be_multiples_of_blocks_nor_blocks_of_tiles() -> None:
    mask = BlockMask.random(1024, 1024, block_q=24, block_k=7, kept_share=0.4)
    problem = Problem(seqlen_q=1024, seqlen_k=1024, head_dim=64, dtype="float16", block_mask=mask)
    assert (pairs_computed(problem, flash3_backward.program(problem, HOPPER)) == kept(problem)).all()


def test_the_tables_are_what_the_spec_declares() -> None:
    mask = BlockMask.random(700, 900, block_q=128, block_k=64, kept_share=0.5)
    problem = Problem(seqlen_q=700, seqlen_k=900, head_dim=128, dtype="float16", block_mask=mask)
    assert FLASH3.backward is not None
    declared = {buffer.name: buffer for buffer in FLASH3.backward.workspace(problem, "cuda")}
    for name, table in flash3_backward.program(problem, HOPPER).tables.items():
        assert table.shape == declared[name].shape
        assert str(table.dtype) == declared[name].dtype


def test_rows_of_blocks_that_no_bits_describe_are_refused() -> None:
    mask = BlockMask.random(100, 100, block_q=10, block_k=64, kept_share=0.5)
    problem = Problem(seqlen_q=100, seqlen_k=100, head_dim=64, dtype="float16", block_mask=mask)
    with pytest.raises(
        InputError, match=r"flash3's backward pass .* multiples of 8 queries high, not 10 x 64"
    ):
        flash3_backward.program(problem, HOPPER)


def test_one_row_of_blocks_may_have_any_height() -> None:
    mask = BlockMask.random(100, 300, block_q=101, block_k=64, kept_share=0.5)
    problem = Problem(seqlen_q=100, seqlen_k=300, head_dim=64, dtype="float16", block_mask=mask)
    assert (pairs_computed(problem, flash3_backward.program(problem, HOPPER)) == kept(problem)).all()
