"""The kernels that take lengths of sequences and pages compile for them, on a machine without a GPU."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from kernels.cuda import flash1, flash2, flash3
from kernels.cuda.program import Boxes, Program
from kernels.flash3_share import MOST_GROUPS_SHARED, Share, share, small_shapes, usual_shape
from kernels.ladder import FLASH1, FLASH2, FLASH3, LADDER, STEPS
from kernels.lengths import PAGE_SIZES
from kernels.problem import Dtype, Problem
from kernels.workspace import KEY_LENGTHS, QUERY_LENGTHS
from tests.kernels.cuda.test_compile import MASKS, TARGETS, spelled, supported
from tests.kernels.cuda.test_compile import check as check_flash2
from tests.kernels.cuda.test_compile_flash3 import HOPPER, check, disassembled
from tests.matrix import matrix

RAGGED: dict[str, Any] = {"key_lengths": (5, 2000), "query_lengths": (60, 0)}
LAYOUTS: tuple[dict[str, Any], ...] = (
    RAGGED,
    {"page_size": 16},
    {**RAGGED, "page_size": 64},
)
WIDTHS = (64, 128, 256)
SOME = [target for target in TARGETS if target.compute_capability in {(8, 0), (9, 0), (12, 0)}]


def workload(head_dim: int, dtype: Dtype = "bfloat16", **rest: Any) -> Problem:
    shape = {"batch": 2, "heads": 4, "kv_heads": 1, "seqlen_q": 60, "seqlen_k": 2048}
    return Problem(**{**shape, "head_dim": head_dim, "dtype": dtype, **rest})


def named(layout: Any) -> str:
    """A layout or a mask as part of a test's name."""
    if isinstance(layout, dict) and ({"page_size", "key_lengths"} & set(layout)):
        return f"{'ragged' * ('key_lengths' in layout)}{layout.get('page_size', '')}"
    return spelled(layout)


@matrix(
    "target dtype head_dim masks layout",
    [
        case
        for case in itertools.product(SOME, ("bfloat16", "float32"), WIDTHS, MASKS, LAYOUTS)
        if supported(case[1], case[0])
    ],
    *("target head_dim", "head_dim masks", "head_dim layout"),
    ids=named,
    few=2,
)
def test_flash2_keeps_its_registers(
    target: Any, dtype: Dtype, head_dim: int, masks: dict[str, Any], layout: dict[str, Any]
) -> None:
    """In float32 it is simt."""
    check_flash2("flash2", workload(head_dim, dtype, **masks, **layout), target)


@matrix(
    "head_dim kind layout tile how",
    itertools.product(
        WIDTHS,
        ({}, {"causal": True}),
        LAYOUTS,
        (0, -2, -1),
        ((1, 1, True), (4, 2, False)),
    ),
    *("head_dim tile", "layout tile", "kind how"),
    ids=named,
    few=2,
)
def test_flash3_keeps_its_registers_and_its_asynchrony(
    head_dim: int, kind: dict[str, Any], layout: dict[str, Any], tile: int, how: tuple[int, int, bool]
) -> None:
    problem = workload(head_dim, **kind, **layout)
    shape = (usual_shape(problem), *small_shapes(problem))[tile]
    packed, splits, draws = (1, 1, how[2]) if shape.groups > MOST_GROUPS_SHARED else how
    check(flash3.program(problem, HOPPER, "flash3", Share(shape, packed, splits, draws)))


def test_pages_are_copied_by_the_tma_and_multiplied_by_wgmma(tmp_path: Path) -> None:
    """Decoding, in parts, heads packed: what paging is for."""
    problem = workload(128, seqlen_q=1, seqlen_k=65536, key_lengths=(65536, 40000), page_size=16)
    chosen = share(problem)
    assert (chosen.packed, chosen.splits > 1) == (4, True)
    code = disassembled(check(flash3.program(problem, HOPPER)), tmp_path)
    for instruction in ("HGMMA.64x64x16.F32.BF16", "HGMMA.64x128x16.F32.BF16", "UTMALDG.3D"):
        assert instruction in code


@pytest.mark.parametrize("page_size", PAGE_SIZES)
def test_a_box_is_a_page_or_the_tile_s_part_of_one(page_size: int) -> None:
    problem = workload(128, seqlen_q=1, page_size=page_size)
    keys = min(page_size, share(problem).shape.block_k)
    assert flash3.program(problem, HOPPER).stages[0].arguments[1:3] == (Boxes("k", keys), Boxes("v", keys))


@pytest.mark.parametrize("of", [flash2.program, flash3.program])
def test_lengths_and_the_page_table_are_handed_over_only_where_they_count(of: Any) -> None:
    plain = workload(64)
    found = [names(of(structs.replace(plain, **layout), HOPPER)) for layout in ({}, *LAYOUTS[:3])]
    lengths, pages = {QUERY_LENGTHS, KEY_LENGTHS}, {"page_table"}
    assert [one & (lengths | pages) for one in found] == [set(), lengths, pages, lengths | pages]
    full = structs.replace(plain, key_lengths=(2048, 2048))
    assert names(of(full, HOPPER)) == found[0]


def names(program: Program) -> set[str]:
    """Buffers that the first launch is given."""
    return {one for one in program.stages[0].arguments if isinstance(one, str)}


def test_the_tables_hold_the_lengths_and_the_workspace_has_room_for_them() -> None:
    problem = workload(64, **RAGGED)
    for of, spec in ((flash2.program, FLASH2), (flash3.program, FLASH3)):
        tables = of(problem, HOPPER).tables
        np.testing.assert_array_equal(tables[QUERY_LENGTHS], [60, 0])
        np.testing.assert_array_equal(tables[KEY_LENGTHS], [5, 2000])
        shapes = {buffer.name: buffer.shape for buffer in spec.workspace(problem, "cuda")}
        assert all(shapes[name] == table.shape for name, table in tables.items())


def test_every_buffer_that_a_launch_is_given_is_an_input_an_output_or_of_the_workspace() -> None:
    problem = workload(64)
    for of, spec in ((flash1.program, FLASH1), (flash2.program, FLASH2), (flash3.program, FLASH3)):
        for asked in (problem, *([] if spec is FLASH1 else [structs.replace(problem, **RAGGED)])):
            given = {
                one for stage in of(asked, HOPPER).stages for one in stage.arguments if isinstance(one, str)
            }
            buffers = {buffer.name for buffer in spec.workspace(asked, "cuda")}
            assert given <= buffers | {"q", "k", "v", "o", "lse"}
            assert buffers <= given


def test_of_the_kernels_on_cuda_simt_flash2_and_flash3_take_them() -> None:
    takers = [spec.name for spec in LADDER if {"ragged", "paged"} <= spec.features.get("cuda", frozenset())]
    assert takers == ["simt", "flash2", "flash3"]
    assert not {"ragged", "paged"} & frozenset().union(*(spec.features["cuda"] for spec in STEPS))
