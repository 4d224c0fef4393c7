"""Cuts of flash2 and flash3: what they take is what their programs ask for, and what refuses them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.catalogue.flash3_share import share
from flashscope.kernels.catalogue.traffic import Tiles, flash2_io
from flashscope.kernels.cuda import flash2, flash2_backward, flash3, flash3_backward
from flashscope.kernels.cuda.compile import INCLUDES
from flashscope.kernels.cuda.design.conditions import WGMMA_WIDTHS
from flashscope.kernels.cuda.design.cut import main_launch, program_of, shipped
from flashscope.kernels.cuda.design.estimate import estimate
from flashscope.kernels.cuda.design.occupancy import SmLimit
from flashscope.kernels.cuda.design.refusals import refusals
from flashscope.kernels.cuda.program import ProgramOf
from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.cut import CUT_KERNELS, Cut, CutKernel
from tests.kernels.cuda.design.drawn import cuts, problem, problems

H200 = CARDS[0]
SHIPPED: dict[str, ProgramOf] = {
    "flash2": flash2.program,
    "flash2 backward": flash2_backward.program,
    "flash3 backward": flash3_backward.program,
}


@pytest.mark.parametrize("kernel", CUT_KERNELS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_what_a_cut_takes_is_what_its_program_asks_for(kernel: CutKernel, data: st.DataObject) -> None:
    asked, cut = data.draw(problems(kernel)), data.draw(cuts(kernel))
    found, launch = estimate(cut, asked, H200), main_launch(program_of(cut, asked, H200.target))
    assert (found.shared_bytes, found.threads) == (launch.shared_bytes, launch.threads)
    assert sum(part.size for part in found.parts) == launch.shared_bytes
    assert launch.grid <= found.tiles
    if cut.spec == "flash2":
        assert launch.grid == found.tiles


@pytest.mark.parametrize("kernel", CUT_KERNELS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_shipped_cut_is_the_shipped_program_and_nothing_refuses_it(
    kernel: CutKernel, data: st.DataObject
) -> None:
    asked = data.draw(problems(kernel))
    cut = shipped(kernel, asked, H200.target)
    made = program_of(cut, asked, H200.target)
    if kernel != "flash3":
        assert made == SHIPPED[kernel](asked, H200.target)
    else:
        shared = share(asked)._replace(pack_gqa=1, splits=1)
        of_flash3 = flash3.program(asked, H200.target, chosen=shared)
        assert (made.defines, made.launches[0]) == (of_flash3.defines, of_flash3.launches[0])
    found = estimate(cut, asked, H200)
    assert found.refused == ()
    assert found.occupancy.blocks >= 1
    assert found.fits
    assert not found.held.short


def test_the_widths_that_a_product_may_have_are_those_that_the_source_spells_out() -> None:
    text = (INCLUDES / "wgmma.cuh").read_text(encoding="utf-8")
    assert tuple(map(int, re.findall(r"^WGMMA\((\d+),", text, re.MULTILINE))) == WGMMA_WIDTHS


FLASH3 = Cut(kernel="flash3", groups=2, block_k=128, q_stages=2)
REFUSED = [
    (replace(FLASH3, block_k=144), "none of 144 keys"),
    (replace(FLASH3, groups=4), r"4 warpgroups of 240 registers .* ask for 992; 5 launched with 96 have 480"),
    (replace(FLASH3, residents=2), "2 blocks an SM have the registers for one consumer warpgroup each"),
    (replace(FLASH3, stages=6), r"takes 449\.2 KiB of shared memory, and may have 227 KiB on H200"),
    (
        replace(FLASH3, groups=1, q_stages=1, stages=3, residents=2),
        r"2 of them share an SM with 113 KiB each",
    ),
    (Cut(kernel="flash2", groups=4, block_k=24), "24 are not whole fragments"),
    (Cut(kernel="flash2", groups=16, subtiles=3, block_k=48), "48 keys are not whole passes"),
    (Cut(kernel="flash2", groups=4, subtiles=2, block_k=256), "and may have 227 KiB"),
]


@pytest.mark.parametrize(("cut", "reason"), REFUSED)
def test_what_refuses_a_cut_is_told_with_its_numbers(cut: Cut, reason: str) -> None:
    found = estimate(cut, problem(), H200)
    assert re.search(reason, " ".join(found.refused)), found.refused
    assert not found.fits


BACKWARD = problem(passes="backward")
FLASH2_BACKWARD = Cut(kernel="flash2 backward", groups=2, subtiles=2, columns=2)
FLASH3_BACKWARD = Cut(kernel="flash3 backward", groups=2, queries=80, stages=1)
REFUSED_BACKWARD = [
    (
        replace(FLASH2_BACKWARD, queries=48),
        "takes 24 queries of a tile, 24 at once as registers go",
    ),
    (replace(FLASH2_BACKWARD, queries=96), "4 warps do not share 3 parts of 32 queries for dQ evenly"),
    (
        replace(FLASH2_BACKWARD, columns=1, queries=48),
        "For dQ a warp takes 32 queries: 48 are not",
    ),
    (
        replace(FLASH2_BACKWARD, groups=1, columns=1, queries=128),
        "32 threads copy the states of 64 queries, not of 128",
    ),
    (replace(FLASH2_BACKWARD, groups=8, queries=128), "and may have 227 KiB"),
    (replace(FLASH3_BACKWARD, queries=48), "none of 48 queries"),
    (
        replace(FLASH3_BACKWARD, queries=128),
        "2 warpgroups share 4 parts of dQ, of 64 columns and",
    ),
    (replace(FLASH3_BACKWARD, stages=2), r"takes 250\.4 KiB of shared memory, and may have 227 KiB on H200"),
]


@pytest.mark.parametrize(("cut", "reason"), REFUSED_BACKWARD)
def test_what_refuses_a_cut_of_a_backward_pass_is_told_with_its_numbers(cut: Cut, reason: str) -> None:
    found = estimate(cut, BACKWARD, H200)
    assert re.search(reason, " ".join(found.refused)), found.refused
    assert not found.fits


def test_a_backward_pass_of_wide_heads_has_one_cut_in_another_kernel() -> None:
    (reason, *_) = refusals(FLASH3_BACKWARD, replace(BACKWARD, head_dim=256), H200)
    assert reason == "Beyond head dim 128 its backward pass is another kernel, which has one cut."


def test_a_block_of_a_backward_pass_owns_keys_and_its_parts_fill_what_it_takes() -> None:
    found = estimate(FLASH2_BACKWARD, BACKWARD, H200)
    assert (FLASH2_BACKWARD.keys, FLASH2_BACKWARD.block_q) == (64, 64)
    assert found.tiles == 32 * 4096 // 64
    assert [part.name for part in found.parts] == ["Q", "dO", "K", "V", "dS", "P", "states"]
    assert found.parts[-1].size == 2 * 64 * 8
    rows, row = 64 * 4096, 128 * (2 * 2 + 4) + 8  # visits of queries a head, bytes of Q, dO, dQ and states
    assert found.loop_bytes == 32 * rows * row + 4 * 32 * 4096 * 128 * 2
    assert found.tile_bytes is None


def test_flash3_is_refused_on_a_card_that_is_no_hopper() -> None:
    a100 = next(card for card in CARDS if card.name == "A100")
    (reason,) = refusals(FLASH3, problem(), a100)
    assert "9.0" in reason


def test_tiles_and_waves_follow_from_the_card() -> None:
    """32 heads of 32 tiles of 128 rows, one block on each of 132 SMs: 7 full waves, then 100 tiles."""
    found = estimate(replace(FLASH3, block_k=160), problem(), H200)
    assert (found.tiles, found.places) == (1024, 132)
    assert found.waves == pytest.approx(1024 / 132)
    assert found.last_wave == pytest.approx(100 / 132)
    assert found.loop_bytes == flash2_io(problem(), Tiles(128, 160))


def test_fewer_registers_than_the_compiler_may_take_let_more_blocks_in() -> None:
    cut = Cut(kernel="flash2", groups=4, subtiles=2, block_k=32, residents=2)
    small = problem(head_dim=64)
    many, few = estimate(cut, small, H200), estimate(cut, small, H200, registers=128)
    assert many.occupancy.binding == (SmLimit.REGISTERS,)
    assert (many.occupancy.blocks, few.occupancy.blocks) == (2, 4)


def test_a_thread_that_cannot_hold_its_sums_is_known_before_it_is_compiled() -> None:
    wide = Cut(kernel="flash2", groups=4, subtiles=4, block_k=64, residents=2)
    assert estimate(wide, problem(), H200).held.short
    assert not estimate(shipped("flash2", problem(), H200.target), problem(), H200).held.short
