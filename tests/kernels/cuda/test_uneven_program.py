"""What the kernels that take lengths of sequences and pages are given of them."""

from typing import Any

import numpy as np
import pytest
from msgspec import structs

from flashscope.kernels.catalogue.flash3_share import share
from flashscope.kernels.catalogue.ladder import FLASH1, FLASH2, FLASH3, LADDER, STEPS
from flashscope.kernels.catalogue.workspace import KEY_LENGTHS, QUERY_LENGTHS
from flashscope.kernels.cuda import flash1, flash2, flash3
from flashscope.kernels.cuda.program import Boxes, Program
from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.kernels.workload.problem import Dtype, Problem
from tests.kernels.cuda.builds import LAYOUTS, ON_HOPPER, RAGGED
from tests.kernels.cuda.compiled import check
from tests.kernels.cuda.cubin import disassembled

EACH = [LAYOUTS[name] for name in ("ragged", "pages of 16", "ragged, pages of 64")]


def workload(head_dim: int, dtype: Dtype = "bfloat16", **rest: Any) -> Problem:
    shape = {"batch": 2, "heads": 4, "kv_heads": 1, "seqlen_q": 60, "seqlen_k": 2048}
    return Problem(**{**shape, "head_dim": head_dim, "dtype": dtype, **rest})


@pytest.mark.matrix
def test_pages_are_copied_by_the_tma_and_multiplied_by_wgmma() -> None:
    """Decoding, in parts, heads packed: what paging is for."""
    problem = workload(128, seqlen_q=1, seqlen_k=65536, key_lengths=(65536, 40000), page_size=16)
    chosen = share(problem)
    assert (chosen.pack_gqa, chosen.splits > 1) == (4, True)
    code = disassembled(check(flash3.program(problem, ON_HOPPER), ON_HOPPER))
    for instruction in ("HGMMA.64x64x16.F32.BF16", "HGMMA.64x128x16.F32.BF16", "UTMALDG.3D"):
        assert instruction in code


@pytest.mark.parametrize("page_size", PAGE_SIZES)
def test_a_box_is_a_page_or_the_tile_s_part_of_one(page_size: int) -> None:
    problem = workload(128, seqlen_q=1, page_size=page_size)
    keys = min(page_size, share(problem).shape.block_k)
    assert flash3.program(problem, ON_HOPPER).launches[0].arguments[1:3] == (
        Boxes("k", keys),
        Boxes("v", keys),
    )


@pytest.mark.parametrize("of", [flash2.program, flash3.program])
def test_lengths_and_the_page_table_are_handed_over_only_where_they_count(of: Any) -> None:
    plain = workload(64)
    found = [names(of(structs.replace(plain, **layout), ON_HOPPER)) for layout in ({}, *EACH)]
    lengths, pages = {QUERY_LENGTHS, KEY_LENGTHS}, {"page_table"}
    assert [one & (lengths | pages) for one in found] == [set(), lengths, pages, lengths | pages]
    full = structs.replace(plain, key_lengths=(2048, 2048))
    assert names(of(full, ON_HOPPER)) == found[0]


def names(program: Program) -> set[str]:
    """Buffers that the first launch is given."""
    return {one for one in program.launches[0].given if isinstance(one, str)}


def test_the_tables_hold_the_lengths_and_the_workspace_has_room_for_them() -> None:
    problem = workload(64, **RAGGED)
    for of, spec in ((flash2.program, FLASH2), (flash3.program, FLASH3)):
        tables = of(problem, ON_HOPPER).tables
        np.testing.assert_array_equal(tables[QUERY_LENGTHS], [60, 0])
        np.testing.assert_array_equal(tables[KEY_LENGTHS], [5, 2000])
        shapes = {buffer.name: buffer.shape for buffer in spec.workspace(problem, "cuda")}
        assert all(shapes[name] == table.shape for name, table in tables.items())


def test_every_buffer_that_a_launch_is_given_is_an_input_an_output_or_of_the_workspace() -> None:
    problem = workload(64)
    for of, spec in ((flash1.program, FLASH1), (flash2.program, FLASH2), (flash3.program, FLASH3)):
        for asked in (problem, *([] if spec is FLASH1 else [structs.replace(problem, **RAGGED)])):
            given = {
                one for stage in of(asked, ON_HOPPER).launches for one in stage.given if isinstance(one, str)
            }
            buffers = {buffer.name for buffer in spec.workspace(asked, "cuda")}
            assert given <= buffers | {"q", "k", "v", "o", "lse"}
            assert buffers <= given


def test_of_the_kernels_on_cuda_simt_flash2_and_flash3_take_them() -> None:
    takers = [spec.name for spec in LADDER if {"ragged", "paged"} <= spec.features.get("cuda", frozenset())]
    assert takers == ["simt", "flash2", "flash3"]
    assert not {"ragged", "paged"} & frozenset().union(*(spec.features["cuda"] for spec in STEPS))
