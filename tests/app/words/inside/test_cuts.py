"""Cuts in words."""

from msgspec.structs import replace

from flashscope.app.words.inside.cuts import (
    cell_tip,
    compiled_words,
    cut_sentence,
    cut_words,
    problem_line,
    reasons,
    rows,
    waves_sentence,
)
from flashscope.kernels.cuda.design.estimate import estimate
from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.problem import Problem

H200 = CARDS[0]
PROBLEM = Problem(heads=16, seqlen_q=4096, seqlen_k=4096, head_dim=128, dtype="bfloat16", causal=True)
FLASH2 = Cut(kernel="flash2", groups=4, subtiles=2, residents=2)
FLASH3 = Cut(kernel="flash3", groups=2, block_k=128, q_stages=2)


def test_a_cut_and_a_problem_are_named_by_their_numbers() -> None:
    assert cut_words(FLASH2) == "128 × 64, 4 warps of 2 fragments, 2 blocks an SM"
    assert cut_words(FLASH3) == "128 × 128, 2 warpgroups, 2 stages of K and V, 2 of Q, 1 block an SM"
    assert problem_line(PROBLEM) == "16 heads of 128, N = 4,096, causal, bfloat16"


def test_a_sentence_says_how_a_card_is_filled_and_what_binds() -> None:
    assert cut_sentence(estimate(FLASH2, PROBLEM, H200), H200, None) == (
        "2 blocks of 128 threads share an SM of H200; registers and shared memory let in no more."
        " 512 tiles make 1.94 waves, the last 93.9% full."
    )
    assert cut_sentence(estimate(FLASH3, PROBLEM, H200), H200, None).startswith(
        "One block of 384 threads has an SM of H200 to itself; "
    )


def test_that_registers_let_in_no_more_is_a_guess_until_it_is_compiled() -> None:
    narrow = replace(FLASH2, groups=1, block_k=16)
    least = estimate(narrow, PROBLEM, H200)
    assert least.occupancy.blocks == 8
    assert "registers let in no more if a thread takes all 255 that it may." in cut_sentence(
        least, H200, None
    )
    found = estimate(narrow, PROBLEM, H200, registers=168)
    known = cut_sentence(found, H200, CompiledCut(cut=narrow, registers=168))
    assert found.occupancy.blocks > 8
    assert "if a thread" not in known


def test_one_tile_makes_its_waves() -> None:
    alone = replace(PROBLEM, heads=1, seqlen_q=128, seqlen_k=128)
    assert waves_sentence(estimate(FLASH2, alone, H200)).startswith("1 tile makes 0.00")


def test_a_refused_cut_gives_its_first_reason_and_the_number_of_others() -> None:
    found = estimate(replace(FLASH3, groups=4, block_k=144), PROBLEM, H200)
    assert cut_sentence(found, H200, None).startswith("wgmma.cuh has products")
    assert cut_sentence(found, H200, None).endswith(f"{len(found.refused) - 1} more reasons below.")
    assert len(reasons(found).splitlines()) == len(found.refused)


def test_what_the_compiler_refuses_or_spills_is_said() -> None:
    refused = CompiledCut(cut=FLASH3, failure="The compiler refuses this cut: because (a.cu, line 1).")
    assert cut_sentence(estimate(FLASH3, PROBLEM, H200), H200, refused) == refused.failure
    assert compiled_words(refused) == refused.failure
    clean = CompiledCut(cut=FLASH3, registers=168)
    assert compiled_words(clean) == "Compiled: 168 registers a thread, no spills."
    spilling = replace(clean, spilled=1240, notes=("A note.",))
    assert compiled_words(spilling).endswith("1,240 bytes spilled a thread. A note.")


def test_registers_that_products_alone_exceed_are_foretold_by_what_takes_them() -> None:
    backward = replace(FLASH2, kernel="flash2 backward", groups=8, residents=3)
    for cut, what in ((replace(FLASH2, subtiles=4), "S, O and Q"), (backward, "S, dP, dK and dV")):
        wide = estimate(cut, PROBLEM, H200)
        told = cut_sentence(wide, H200, None)
        assert f" {what} alone take {wide.held.least} of the {wide.held.most} registers of a thread" in told
        assert told.endswith(": it will spill.")
        in_products = next(row for row in rows(wide, wide, H200) if row.title == "in products")
        assert in_products.tip == f"Registers that {what} take"


def test_the_operand_of_flash3s_products_in_registers_is_p() -> None:
    found = estimate(FLASH3, PROBLEM, H200)
    assert "Registers that S, O and P take" in {row.tip for row in rows(found, found, H200)}


def test_a_cut_stands_beside_the_shipped_one_line_by_line() -> None:
    ours, own = estimate(replace(FLASH2, block_k=32), PROBLEM, H200), estimate(FLASH2, PROBLEM, H200)
    told = {row.title: (row.ours, row.shipped) for row in rows(ours, own, H200)}
    assert told["tile, Br × Bc"] == ("128 × 32", "128 × 64")
    assert told["shared memory"] == ("64.0 KiB", "96.0 KiB")
    assert told["registers"] == ("at most 255", "at most 255")
    assert told["spilled"] == ("–", "–")
    compiled = CompiledCut(cut=ours.cut, registers=200, spilled=12)
    told = {row.title: (row.ours, row.shipped) for row in rows(ours, own, H200, compiled)}
    assert told["registers"] == ("200", "at most 255")
    assert told["spilled"] == ("12 B", "–")


def test_a_cell_says_what_its_cut_takes_or_why_it_does_not_run() -> None:
    found = estimate(FLASH2, PROBLEM, H200)
    assert "96.0 KiB of shared memory, 128 threads" in cell_tip(found, (), None)
    assert cell_tip(found, ("Because.",), None) == f"{cut_words(FLASH2)}\nBecause."
