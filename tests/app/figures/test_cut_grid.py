"""Cuts side by side, and an SM filled with them."""

from dataclasses import replace as replace_in

import pytest
from msgspec.structs import replace

from flashscope.app.figures.cut_grid import QUANTITIES, Known, cell_of, cut_grid, row_knobs
from flashscope.app.figures.sm_bars import bar_words, bars_sentence, sm_bars
from flashscope.kernels.cuda.design.cut import shipped
from flashscope.kernels.cuda.design.estimate import estimate
from flashscope.kernels.cuda.design.knobs import KNOBS
from flashscope.kernels.cuda.design.occupancy import SmLimit
from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.problem import Problem

H200 = CARDS[0]
PROBLEM = Problem(heads=16, seqlen_q=4096, seqlen_k=4096, head_dim=128, dtype="bfloat16")
OWN = shipped("flash3", PROBLEM, H200.target)
BY = {quantity.key: quantity for quantity in QUANTITIES}


def test_a_grid_has_a_row_for_each_value_and_a_column_for_each_number_of_keys() -> None:
    knob = KNOBS["flash3"][2]
    grid = cut_grid(OWN, knob, PROBLEM, H200, Known())
    assert knob.name == "stages"
    assert grid.size == (6, 16)
    assert [row[0].cut.stages for row in grid.cells] == [1, 2, 3, 4, 5, 6]
    assert [cell.cut.block_k for cell in grid.cells[0]] == list(range(16, 257, 16))
    assert grid.place_of(OWN) == (1, OWN.block_k // 16 - 1)
    assert grid.place_of(replace(OWN, groups=1)) is None


def test_the_rows_can_have_every_number_but_the_keys() -> None:
    assert {knob.name for knob in row_knobs(OWN)} == {"groups", "stages", "q_stages", "residents"}


def test_a_refused_cut_has_no_value_and_its_reason() -> None:
    grid = cut_grid(OWN, KNOBS["flash3"][0], PROBLEM, H200, Known())
    values = grid.values(BY["warps"])
    assert values[3] == [None] * 16  # four warpgroups have no registers
    assert all(cell.refused for cell in grid.cells[3])
    assert values[1][OWN.block_k // 16 - 1] == 12


def test_what_the_compiler_made_of_a_cut_takes_the_place_of_what_it_may_take() -> None:
    cut = Cut(kernel="flash2", groups=4, subtiles=2, block_k=32, residents=2)
    small = replace(PROBLEM, head_dim=64)
    compiled = {cut: CompiledCut(cut=cut, registers=128, spilled=8)}
    cell, bare = cell_of(cut, small, H200, Known(compiled)), cell_of(cut, small, H200, Known())
    assert (bare.found.occupancy.blocks, cell.found.occupancy.blocks) == (2, 4)
    assert (bare.spills, cell.spills) == (False, True)
    assert [BY[key].of(cell) for key in ("registers", "spilled")] == [128, 8]
    assert [BY[key].of(bare) for key in ("registers", "spilled")] == [None, None]


def test_what_the_compiler_refused_is_refused() -> None:
    compiled = {OWN: CompiledCut(cut=OWN, failure="The compiler refuses this cut: because (a.cu, line 1).")}
    assert cell_of(OWN, PROBLEM, H200, Known(compiled)).refused == (compiled[OWN].failure,)


def test_an_sm_is_filled_with_blocks_up_to_what_binds() -> None:
    cut = Cut(kernel="flash2", groups=4, subtiles=2, residents=2)
    shared, registers, warps = sm_bars(estimate(cut, PROBLEM, H200), H200)
    assert [part.name for part in shared.block] == ["Q", "K", "V", "reserved"]
    assert [part.stages for part in shared.block] == [1, 2, 2, 1]
    assert shared.of_block == 96 * 1024 + 1024
    assert (shared.blocks, registers.blocks, warps.blocks) == (2, 2, 2)
    assert (shared.binds, registers.binds, warps.binds) == (True, True, False)
    assert registers.of_block * 2 <= registers.capacity
    assert bar_words(warps) == "8 of 64"
    assert "registers: 65,536 of 65,536 · binds" in bars_sentence((shared, registers, warps))


def test_a_block_that_takes_a_little_more_than_half_an_sm_is_told_so_exactly_that_it_shows() -> None:
    small = replace(PROBLEM, head_dim=64)
    own = shipped("flash3", small, H200.target)
    shared, *_ = sm_bars(estimate(own, small, H200), H200)
    assert (shared.blocks, shared.binds) == (1, True)
    assert 2 * shared.of_block - shared.capacity == 240
    assert shared.told == "114.1 KiB of 228 KiB"


def test_a_block_that_does_not_fit_is_longer_than_what_there_is_and_says_so() -> None:
    shared, registers, _ = sm_bars(estimate(replace(OWN, stages=6), PROBLEM, H200), H200)
    assert (shared.limit, shared.fits, shared.drawn) == (SmLimit.SHARED, False, 1)
    assert shared.length > shared.capacity
    assert bar_words(shared).endswith("does not fit")
    assert registers.fits
    assert not registers.binds


def test_colours_go_by_differences_or_by_ratios() -> None:
    plain, by_ratio = BY["warps"], replace_in(BY["warps"], logarithmic=True)
    assert [plain.share(value, 1, 100) for value in (1, 100)] == [0, 1]
    assert by_ratio.share(10, 1, 100) == pytest.approx(0.5)
    assert by_ratio.share(0, 0, 0) == plain.share(5, 5, 5) == 0
