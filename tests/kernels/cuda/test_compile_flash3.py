"""flash3 compiles for Hopper, keeps its registers and uses the tensor cores, on a machine without a GPU."""

import itertools
import re
import subprocess
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from kernels.block_mask import BlockMask
from kernels.cuda import flash3
from kernels.cuda.compile import compile_offline
from kernels.cuda.flash3 import Variant
from kernels.cuda.program import SHARED_MEMORY_LIMITS, Boxes, Program, Target
from kernels.cuda.tensor_map import MAP_ALIGNMENT, MAP_BYTES, aligned_buffer
from kernels.device import Device
from kernels.flash3_share import FEW_ROWS_SHAPE, MOST_GROUPS_SHARED, Share, share, small_shapes, usual_shape
from kernels.ladder import FLASH3, STEPS
from kernels.problem import Dtype, Problem
from kernels.workspace import PARTIAL_O, PARTIAL_SUMS
from tests.matrix import chosen, matrix

HOPPER = Target((9, 0), SHARED_MEMORY_LIMITS[9, 0], multiprocessors=132)
HEAD_DIMS = FLASH3.head_dims["cuda"]
DTYPES = FLASH3.dtypes["cuda"]
SERIALISED = re.compile(r"C75\d\d|C7602")  # ptxas gave up the asynchrony of wgmma, or setmaxnreg
KINDS: tuple[dict[str, Any], ...] = ({}, {"window": (256, 64)}, {"scale": -0.3})
MEASURED = (64, 128, 256)


def workload(head_dim: int, dtype: Dtype = "bfloat16", *, causal: bool = False) -> Problem:
    return Problem(
        batch=2, heads=4, seqlen_q=8192, seqlen_k=8192, head_dim=head_dim, dtype=dtype, causal=causal
    )


def numbers(pattern: str, log: str) -> set[int]:
    found = set(map(int, re.findall(pattern, log)))
    assert found, log
    return found


def check(program: Program) -> bytes:
    """Compile, and hold the compiler's report against what the kernel needs."""
    cubin, log = compile_offline(program, HOPPER)
    assert SERIALISED.search(log) is None, log
    assert numbers(r"(\d+) bytes spill stores", log) == {0}
    assert numbers(r"(\d+) bytes stack frame", log) == {0}
    for stage in program.stages:
        (used,) = numbers(rf"'{stage.entry}' for[^U]*?Used (\d+) registers", log)
        assert used * stage.threads <= 65536
        assert stage.shared_bytes <= HOPPER.shared_memory
    return cubin


@matrix(
    "head_dim dtype causal kind",
    itertools.product(MEASURED, DTYPES, (False, True), KINDS),
    *("head_dim causal", "causal kind"),
    ids=str,
    few=1,
)
def test_flash3_compiles_without_spills_or_serialised_products(
    head_dim: int, dtype: Dtype, causal: bool, kind: dict[str, Any]
) -> None:
    """The head dim sets the tiles, causal and the kind the loops over them; the dtype only names products."""
    check(flash3.program(structs.replace(workload(head_dim, dtype, causal=causal), **kind), HOPPER))


def test_few_keys_take_smaller_tiles() -> None:
    short = structs.replace(workload(128), seqlen_k=4096)
    assert (flash3.variant(short).block_k, flash3.variant(workload(128)).block_k) == (128, 176)
    check(flash3.program(short, HOPPER))


@matrix(
    "head_dim dtype causal",
    [
        (head_dim, dtype, causal)
        for head_dim in HEAD_DIMS
        if head_dim not in MEASURED
        for dtype, causal in zip(DTYPES, (False, True), strict=True)
    ],
    few=1,
)
def test_every_other_head_dim_compiles_with_a_window(head_dim: int, dtype: Dtype, causal: bool) -> None:
    problem = structs.replace(workload(head_dim, dtype, causal=causal), window=(256, 64))
    check(flash3.program(problem, HOPPER))


def sparse(head_dim: int, *, masked: bool) -> Problem:
    """With a block mask, alone or under causal and a window."""
    blocks = BlockMask.random(8192, 8192, block_q=128, block_k=64, kept_share=0.5)
    window = (256, 64) if masked else None
    return structs.replace(workload(head_dim, causal=masked), window=window, block_mask=blocks)


@matrix(
    "head_dim masked cut",
    [
        (head_dim, masked, cut)
        for head_dim, masked in itertools.product(HEAD_DIMS, (False, True))
        for cut in range(len(flash3.sparse_variants(sparse(head_dim, masked=masked))))
    ],
    "masked cut",
    few=1,
)
def test_every_cut_for_a_block_mask_compiles_without_spills_or_serialised_products(
    head_dim: int, masked: bool, cut: int
) -> None:
    """The other masks add to each cut; the head dim only widens it."""
    problem = sparse(head_dim, masked=masked)
    defines = flash3.sparse_variants(problem)[cut].defines(problem)
    check(replace(flash3.program(problem, HOPPER), defines=defines))


@matrix(
    "step head_dim causal",
    [
        (s, *cut)
        for s in ("flash3-a", "flash3-b", "flash3-c")
        for cut in ((64, True), (128, False), (256, True))
    ],
    few=1,
)
def test_every_step_of_the_ladder_compiles(step: str, head_dim: int, causal: bool) -> None:
    check(flash3.program(workload(head_dim, causal=causal), HOPPER, step))


SHARES = [  # heads packed, parts, whether blocks draw
    {"packed": packed, "splits": splits, "draws": draws}
    for packed, splits, draws in itertools.product((1, 4), (1, 2), (True, False))
]


@matrix(
    "head_dim kind tile how",
    itertools.product(HEAD_DIMS, ({}, {"causal": True}, {"window": (100, 20)}), (0, -2, -1), SHARES),
    *("head_dim tile", "kind how"),
    ids=str,
    few=1,
)
def test_every_way_to_share_few_tiles_compiles_without_spills_or_serialised_products(
    head_dim: int, kind: dict[str, Any], tile: int, how: dict[str, Any]
) -> None:
    problem = structs.replace(workload(head_dim), kv_heads=1, seqlen_q=60, **kind)
    shape = (usual_shape(problem), *small_shapes(problem))[tile]
    whole = {"packed": 1, "splits": 1} if shape.groups > MOST_GROUPS_SHARED else {}
    check(flash3.program(problem, HOPPER, "flash3", Share(shape, **{**how, **whole})))


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
    program = flash3.program(problem, HOPPER, "flash3", share)
    check(program)
    assert 2 * (program.stages[0].shared_bytes + 1024) <= 228 * 1024
    assert 2 * program.stages[0].threads * 128 == 65536


def test_parts_are_drawn_like_heads_and_merged_by_a_second_launch() -> None:
    problem = structs.replace(workload(128), kv_heads=1, seqlen_q=1, seqlen_k=65536)
    attention, merge = flash3.program(problem, HOPPER).stages
    assert attention.grid == 2 * share(problem).splits == 132
    assert attention.arguments[0] == Boxes("q", 64, packed=4)
    assert attention.arguments[3:5] == merge.arguments[:2] == (PARTIAL_O, PARTIAL_SUMS)
    assert merge.arguments[2:4] == ("o", "lse")


def test_only_flash3_itself_shares_few_tiles() -> None:
    problem = structs.replace(workload(128), kv_heads=1, seqlen_q=1, seqlen_k=65536)
    for spec in STEPS:
        (stage,) = flash3.program(problem, HOPPER, spec.name).stages
        assert stage.arguments[0] == Boxes("q", 128)


@chosen("step", ["flash3-a", "flash3"], {"flash3"})
def test_the_products_are_hopper_s_and_the_copies_the_tma_s(step: str, tmp_path: Path) -> None:
    code = disassembled(check(flash3.program(workload(128), HOPPER, step)), tmp_path)
    for instruction in ("HGMMA.64x176x16.F32.BF16", "HGMMA.64x128x16.F32.BF16", "UTMALDG.3D", "USETMAXREG"):
        assert instruction in code


def disassembled(cubin: bytes, folder: Path) -> str:
    """The machine code as text."""
    package = find_spec("nvidia.cu13")
    assert package is not None
    assert package.submodule_search_locations is not None
    tool = Path(package.submodule_search_locations[0], "bin", "nvdisasm")
    path = folder / "flash3.cubin"
    path.write_bytes(cubin)
    return subprocess.run([tool, path], capture_output=True, text=True, check=True).stdout


def test_shared_memory_is_what_the_device_code_lays_out() -> None:
    """The last barrier's end, from flash3_layout.cuh in words, is the end of what is asked for."""
    for head_dim, causal, spec in itertools.product(HEAD_DIMS, (False, True), (*STEPS, FLASH3)):
        cut = flash3.variant(workload(head_dim, causal=causal), spec.name)
        panels = -(-head_dim // 64)
        tiles = 128 * panels * (64 * cut.groups * cut.q_stages + 2 * cut.stages * cut.block_k)
        q_barriers = 24 + 2 * 8 * cut.q_stages
        assert q_barriers <= 56
        assert cut.shared_bytes(head_dim) == 1023 + 1 + tiles + 56 + 4 * 8 * cut.stages


def test_the_ladder_adds_one_idea_a_step() -> None:
    steps = [flash3.variant(workload(64, causal=True), spec.name) for spec in (*STEPS, FLASH3)]
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
    assert flash3.variant(problem, chosen=Share(usual_shape(problem), draws=draws)).lazy == lazy
    assert not any(flash3.variant(problem, spec.name).lazy for spec in STEPS)


def test_blocks_that_stay_are_no_more_than_the_multiprocessors() -> None:
    few, many = structs.replace(workload(128), batch=1, heads=1), workload(128)
    assert flash3.program(few, HOPPER).stages[0].grid == 2 * 8192 // 128
    assert flash3.program(few, HOPPER, "flash3-c").stages[0].grid == 8192 // 128
    assert flash3.program(many, HOPPER).stages[0].grid == 132
    assert flash3.program(many, HOPPER, "flash3-b").stages[0].grid == 2 * 4 * 8192 // 128


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


def test_the_boxes_of_the_copies_are_the_tiles_of_the_block() -> None:
    cut: Variant = flash3.variant(workload(64))
    arguments = flash3.program(workload(64), HOPPER).stages[0].arguments
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
