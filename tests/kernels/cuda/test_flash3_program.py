"""How flash3 is cut and launched for a problem, and that its products are the tensor cores'."""

import itertools

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
from flashscope.kernels.cuda import flash3
from flashscope.kernels.cuda.flash3 import Flash3Variant
from flashscope.kernels.cuda.program import Boxes
from flashscope.kernels.cuda.tensor_map import MAP_ALIGNMENT, MAP_BYTES, aligned_buffer
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.compiled import check, workload
from tests.kernels.cuda.cubin import disassembled
from tests.matrix import chosen, matrix

HEAD_DIMS = FLASH3.head_dims["cuda"]


def test_few_keys_take_smaller_tiles() -> None:
    short = structs.replace(workload(128), seqlen_k=4096)
    assert (flash3.flash3_variant(short).block_k, flash3.flash3_variant(workload(128)).block_k) == (128, 176)


def test_long_causal_keys_take_wide_tiles_where_there_is_no_window() -> None:
    long = workload(128, causal=True)
    windowed = structs.replace(long, window=(512, 0))
    short = structs.replace(long, seqlen_k=4096)
    assert [flash3.flash3_variant(one).block_k for one in (long, windowed, short)] == [176, 128, 128]


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
    for instruction in ("HGMMA.64x176x16.F32.BF16", "HGMMA.64x128x16.F32.BF16", "UTMALDG.3D", "USETMAXREG"):
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
        (1024, 64, True, 86),  # 6 of at most 96
        (1024, 128, True, 64),
        (2048, 128, True, 32),
        (2048, 256, True, 32),
        (8192, 128, True, 16),
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
    assert flash3.section(problem) == expected


def test_sections_of_grouped_heads_count_what_they_share_once() -> None:
    alone = Problem(heads=64, seqlen_q=3072, seqlen_k=3072, head_dim=128, dtype="bfloat16", causal=True)
    grouped = structs.replace(alone, kv_heads=16)
    assert (flash3.section(alone), flash3.section(grouped)) == (16, 32)


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
