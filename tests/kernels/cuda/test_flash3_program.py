"""How flash3 is cut and launched for a problem, and that its products are the tensor cores'."""

import itertools
from typing import Any

import pytest
from msgspec import structs

from flashscope.kernels.catalogue.flash3_share import (
    FEW_ROWS_SHAPE,
    Share,
    share,
    usual_shape,
)
from flashscope.kernels.catalogue.ladder import FLASH3, STEPS
from flashscope.kernels.catalogue.workspace import PARTIAL_O, PARTIAL_SUMS
from flashscope.kernels.cuda import flash3, flash3_sections
from flashscope.kernels.cuda.flash3 import Flash3Variant
from flashscope.kernels.cuda.program import Boxes
from flashscope.kernels.cuda.tensor_map import MAP_ALIGNMENT, MAP_BYTES, aligned_buffer
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.compiled import check, workload
from tests.kernels.cuda.cubin import disassembled
from tests.matrix import chosen, matrix

HEAD_DIMS = FLASH3.head_dims["cuda"]


def keys_a_tile(seqlen: int, **rest: Any) -> int:
    problem = structs.replace(workload(128), seqlen_q=seqlen, seqlen_k=seqlen, **rest)
    return flash3.flash3_variant(problem).block_k


def test_keys_are_cut_where_the_steps_cost_least() -> None:
    """Of 128 keys a tile half of the last one may be left out."""
    lengths = (200, 300, 333, 512, 900, 1024, 1300, 4096, 16384)
    many = {"heads": 128}
    assert [keys_a_tile(n, **many) for n in lengths] == [112, 160, 112, 128, 160, 128, 112, 160, 160]
    assert [keys_a_tile(n, heads=1) for n in lengths] == [*[128] * 8, 160]  # up to 4096 in one wave
    assert [keys_a_tile(n, causal=True) for n in lengths] == [128] * 7 + [160] * 2


def test_a_diagonal_behind_many_keys_leaves_little_to_spare() -> None:
    late = structs.replace(workload(128, causal=True), seqlen_q=700, seqlen_k=1900)
    assert flash3.flash3_variant(late).block_k == 160
    assert keys_a_tile(1900, causal=True) == 128


def test_windows_take_narrow_tiles_and_uneven_batches_from_some_keys_on_wide_ones() -> None:
    for causal in (False, True):
        assert keys_a_tile(16384, causal=causal, window=(512, 512)) == 128
    assert [keys_a_tile(n, key_lengths=(n, n - 1)) for n in (2048, 4096)] == [128, 160]


def test_blocks_take_tiles_of_176_keys_where_there_are_many() -> None:
    for keys, expected in ((4096, 128), (8192, 176)):
        blocks = BlockMask.of([[True] * (keys // 128)] * (keys // 128), 128, 128)
        assert keys_a_tile(keys, block_mask=blocks) == expected


def test_steps_are_cut_in_half_and_o_leaves_by_tma_where_that_won() -> None:
    causal = structs.replace(workload(128, causal=True), seqlen_q=2048, seqlen_k=2048)
    others = {
        "a step of the ladder": flash3.flash3_variant(causal, "flash3-c"),
        "uneven": flash3.flash3_variant(structs.replace(causal, key_lengths=(2048, 5))),
        "pages": flash3.flash3_variant(structs.replace(causal, page_size=64)),
    }
    plain = flash3.flash3_variant(causal)
    assert (plain.halves, plain.boxed, plain.lift) == (1, 1, 0)
    long = flash3.flash3_variant(structs.replace(causal, seqlen_q=16384, seqlen_k=16384))
    assert (long.halves, long.boxed) == (0, 1)
    assert {name for name, cut in others.items() if cut.halves or cut.boxed} == set()
    windowed = flash3.flash3_variant(structs.replace(causal, window=(512, 0)))
    assert (windowed.halves, windowed.boxed) == (0, 1)
    wide = flash3.flash3_variant(workload(256, causal=True))
    assert (wide.halves, wide.boxed, wide.early) == (0, 0, 1)


@pytest.mark.matrix
def test_o_is_stored_in_boxes_of_a_warps_rows() -> None:
    causal = structs.replace(workload(128, causal=True), seqlen_q=2048, seqlen_k=2048)
    program = flash3.program(causal, ON_HOPPER, chosen=Share(usual_shape(causal)))
    assert program.launches[0].arguments[-1] == Boxes("o", 16)
    assert "UTMASTG.3D" in disassembled(check(program, ON_HOPPER))


@pytest.mark.matrix
@pytest.mark.parametrize("head_dim", [64, 128])
def test_parts_of_usual_tiles_leave_no_box_and_no_half(head_dim: int) -> None:
    causal = structs.replace(workload(head_dim, causal=True), seqlen_q=2048, seqlen_k=2048)
    chosen = Share(usual_shape(causal), splits=2)
    program = flash3.program(causal, ON_HOPPER, chosen=chosen)
    assert flash3.flash3_variant(causal).boxed
    assert (program.defines["SPLIT"], program.defines["BOXED"], program.defines["HALVES"]) == (1, 0, 0)
    check(program, ON_HOPPER)


@matrix(
    "head_dim pages packed splits",
    itertools.product((64, 96, 128), (None, 16, 64), (1, 4), (1, 2)),
    "pages splits",
    few=1,
)
def test_two_blocks_of_one_warpgroup_fit_an_sm(
    head_dim: int, pages: int | None, packed: int, splits: int
) -> None:
    """Of 228 KiB each block has 1 KiB less; the compiler keeps to 128 registers a thread."""
    problem = structs.replace(workload(head_dim), kv_heads=1, seqlen_q=1, page_size=pages)
    share = Share(FEW_ROWS_SHAPE, packed, splits, draws=False, residents=2)
    program = flash3.program(problem, ON_HOPPER, "flash3", share)
    check(program, ON_HOPPER)
    assert 2 * (program.launches[0].shared_bytes + 1024) <= 228 * 1024
    assert 2 * program.launches[0].threads * 128 == 65536


@pytest.mark.parametrize(
    ("head_dim", "batch", "blocks", "stages"),
    [(128, 64, 2, 2), (96, 64, 2, 2), (64, 64, 2, 4), (128, 16, 1, 2), (64, 16, 1, 4), (256, 16, 1, 3)],
)
def test_blocks_that_read_for_few_queries_have_two_stages_or_four_of_half_the_bytes(
    head_dim: int, batch: int, blocks: int, stages: int
) -> None:
    few = Problem(
        batch=batch, heads=32, kv_heads=8, seqlen_q=1, seqlen_k=4096, head_dim=head_dim, dtype="bfloat16"
    )
    cut = flash3.flash3_variant(few, chosen=share(few))
    assert (cut.block_k, cut.residents, cut.stages) == (64, blocks, stages)


def test_parts_are_drawn_like_heads_and_merged_by_a_second_launch() -> None:
    problem = structs.replace(workload(128), kv_heads=1, seqlen_q=1, seqlen_k=65536)
    attention, merge = flash3.program(problem, ON_HOPPER).launches
    assert attention.grid == 2 * share(problem).splits == 132
    assert attention.arguments[0] == Boxes("q", 64, pack_gqa=4)
    assert attention.arguments[3:5] == merge.arguments[:2] == (PARTIAL_O, PARTIAL_SUMS)
    assert merge.arguments[2:4] == ("o", "lse")


def test_only_flash3_itself_shares_few_tiles() -> None:
    problem = structs.replace(workload(128), kv_heads=1, seqlen_q=1, seqlen_k=65536)
    for spec in STEPS:
        (stage,) = flash3.program(problem, ON_HOPPER, spec.name).launches
        assert stage.arguments[0] == Boxes("q", 128)


@chosen("step", ["flash3-a", "flash3"], {"flash3"})
def test_the_products_are_hopper_s_and_the_copies_the_tma_s(step: str) -> None:
    code = disassembled(check(flash3.program(workload(128), ON_HOPPER, step), ON_HOPPER))
    for instruction in ("HGMMA.64x160x16.F32.BF16", "HGMMA.64x128x16.F32.BF16", "UTMALDG.3D", "USETMAXREG"):
        assert instruction in code


def test_shared_memory_is_what_the_device_code_lays_out() -> None:
    """The last barrier's end, from flash3_layout.cuh in words, is the end of what is asked for."""
    for head_dim, causal, spec in itertools.product(HEAD_DIMS, (False, True), (*STEPS, FLASH3)):
        cut = flash3.flash3_variant(workload(head_dim, causal=causal), spec.name)
        panels = -(-head_dim // 64)
        tiles = 128 * panels * (64 * cut.groups * cut.q_stages + 2 * cut.stages * cut.block_k)
        q_barriers = 24 + 2 * 8 * cut.q_stages
        assert q_barriers <= 56
        assert cut.shared_bytes(head_dim) == 1023 + 1 + tiles + 56 + 4 * 8 * cut.stages


def test_the_ladder_adds_one_idea_a_step() -> None:
    steps = [flash3.flash3_variant(workload(64, causal=True), spec.name) for spec in (*STEPS, FLASH3)]
    assert [(s.overlap, s.pingpong, s.schedule, s.q_stages) for s in steps] == [
        (0, 0, 0, 1),
        (1, 1, 0, 1),
        (1, 1, 1, 1),
        (1, 1, 1, 2),
    ]


@pytest.mark.parametrize(
    ("head_dim", "seqlen", "draws", "lazy"),
    [
        (64, 8192, True, 0),
        (64, 16384, False, 1),
        (128, 512, True, 1),
        (128, 512, False, 0),
        (128, 2048, False, 1),
    ],
)
def test_the_output_is_rescaled_seldom_where_that_wins(
    head_dim: int, seqlen: int, draws: bool, lazy: int
) -> None:
    problem = structs.replace(workload(head_dim), seqlen_q=seqlen, seqlen_k=seqlen)
    assert flash3.flash3_variant(problem, chosen=Share(usual_shape(problem), draws=draws)).lazy == lazy
    assert not any(flash3.flash3_variant(problem, spec.name).lazy for spec in STEPS)


def test_blocks_that_stay_are_no_more_than_the_multiprocessors() -> None:
    few, many = structs.replace(workload(128), batch=1, heads=1), workload(128)
    assert flash3.program(few, ON_HOPPER).launches[0].grid == 2 * 8192 // 128
    assert flash3.program(few, ON_HOPPER, "flash3-c").launches[0].grid == 8192 // 128
    assert flash3.program(many, ON_HOPPER).launches[0].grid == 132
    assert flash3.program(many, ON_HOPPER, "flash3-b").launches[0].grid == 2 * 4 * 8192 // 128


@pytest.mark.parametrize(
    ("seqlen", "head_dim", "causal", "expected"),
    [
        (1024, 128, False, 1),
        (1024, 64, True, 64),
        (1024, 128, True, 16),
        (2048, 128, True, 16),
        (2048, 256, True, 8),
        (4096, 64, True, 16),
        (8192, 128, True, 8),
        (24576, 128, True, 4),  # of 5 the last one would have 2, of 7 one
        (16983, 128, True, 4),
        (2**22, 128, True, 1),
    ],
)
def test_sections_are_alike_and_hold_heads_whose_keys_and_values_fit(
    seqlen: int, head_dim: int, causal: bool, expected: int
) -> None:
    problem = Problem(
        heads=512,
        seqlen_q=seqlen,
        seqlen_k=seqlen,
        head_dim=head_dim,
        dtype="bfloat16",
        causal=causal,
    )
    assert flash3_sections.section(problem) == expected


@pytest.mark.parametrize(
    ("window", "seqlen_k", "rises"),
    [
        ((5, -1), 4096, True),
        ((5, -1), 9000, True),
        ((128, 2048), 4096, True),
        ((256, 256), 4096, False),
        ((-1, 5), 4096, False),
        ((4000, -1), 4096, False),  # the last tile sees all but few
        ((5, -1), 128, False),
        (None, 4096, False),
    ],
)
def test_the_first_tiles_of_a_head_come_first_where_a_window_gives_them_the_most_keys(
    window: tuple[int, int] | None, seqlen_k: int, rises: bool
) -> None:
    problem = structs.replace(workload(128), heads=16, seqlen_q=4096, seqlen_k=seqlen_k, window=window)
    assert flash3_sections.rises(problem) == rises
    program = flash3.program(problem, ON_HOPPER)
    assert ("RISING" in program.defines) == rises
    assert program.launches[0].arguments[7] == (8 if rises else 1)
    assert not flash3_sections.rises(structs.replace(problem, causal=True))


def test_sections_of_grouped_heads_count_what_they_share_once() -> None:
    alone = Problem(heads=64, seqlen_q=3072, seqlen_k=3072, head_dim=128, dtype="bfloat16", causal=True)
    grouped = structs.replace(alone, kv_heads=16)
    assert (flash3_sections.section(alone), flash3_sections.section(grouped)) == (8, 32)


@pytest.mark.parametrize(("head_dim", "free"), [(64, 0), (96, 0), (128, 1), (192, 0), (256, 0)])
def test_the_first_product_waits_for_no_turn_where_that_wins(head_dim: int, free: int) -> None:
    cut = flash3.flash3_variant(workload(head_dim, causal=True))
    assert cut.free_first == free
    assert not flash3.flash3_variant(workload(head_dim, causal=True), "flash3-c").free_first


def test_the_boxes_of_the_copies_are_the_tiles_of_the_block() -> None:
    cut: Flash3Variant = flash3.flash3_variant(workload(64))
    arguments = flash3.program(workload(64), ON_HOPPER).launches[0].arguments
    assert arguments[:3] == (Boxes("q", 192), Boxes("k", cut.block_k), Boxes("v", cut.block_k))


def test_a_tensor_map_lies_where_the_driver_may_write_it() -> None:
    for _ in range(20):
        buffer = aligned_buffer()
        assert buffer.nbytes == MAP_BYTES
        assert buffer.ctypes.data % MAP_ALIGNMENT == 0


@pytest.mark.parametrize(("capability", "runs"), [((8, 0), False), ((9, 0), True), ((10, 0), False)])
def test_flash3_runs_on_hopper_alone(capability: tuple[int, int], runs: bool) -> None:
    device = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=capability)
    assert (FLASH3.unsupported(workload(128), device) is None) == runs
