"""flash3's ways to share few rows before many keys: heads in several tiles, parts of two waves of them."""

from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.catalogue import flash3_share
from flashscope.kernels.catalogue.flash3_share import (
    FEW_WAVES,
    KEYS_A_ROW,
    SMS,
    SURE,
    SURE_WIDE,
    WIDE_HEAD,
    Share,
    TileShape,
    share,
)
from flashscope.kernels.catalogue.workspace import flash3_shared
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.presets import PRESETS


def workload(seqlen_q: int, seqlen_k: int, heads: tuple[int, int, int], **rest: Any) -> Problem:
    """Of a batch, query heads and K/V heads."""
    batch, query_heads, kv_heads = heads
    given = {"batch": batch, "heads": query_heads, "kv_heads": kv_heads, "dtype": "bfloat16", **rest}
    return Problem(seqlen_q=seqlen_q, seqlen_k=seqlen_k, **given)


@pytest.mark.parametrize(
    ("rows", "keys", "heads", "head_dim", "causal", "expected"),
    [
        (150, 4921, (3, 30, 10), 256, True, Share(TileShape(2, 80), 3, 1)),  # 120 tiles of 128 rows, not 180
        (275, 4514, (2, 44, 11), 64, True, Share(TileShape(3, 128), 4, 1)),  # 132 of 192, not 264 of 128
        (275, 4514, (2, 44, 11), 64, False, Share(TileShape(3, 128), 4, 1)),
        (167, 7136, (3, 18, 9), 128, True, Share(TileShape(2, 160), 2, 3)),  # 81 in thirds, not 108
        (138, 15677, (1, 27, 9), 192, False, Share(TileShape(2, 96), 3, 7)),  # 36 in 7 parts, not 54 in 2
        (224, 17374, (1, 28, 7), 192, True, Share(TileShape(2, 96), 4, 5)),  # 49 in 5 parts, not 56 in 2
        (421, 9389, (1, 21, 7), 96, True, Share(TileShape(3, 112), 3, 5)),  # 49 of 192 rows, not 84 of 128
        (407, 7871, (1, 48, 16), 128, False, Share(TileShape(2, 160), 3, 3)),  # 160 in thirds, not 192
        (777, 8192, (4, 16, 2), 96, False, Share(TileShape(3, 112), 8, 1)),  # 264, not 320
    ],
)
def test_heads_are_packed_where_that_leaves_fewer_waves_of_tiles(  # noqa: PLR0917 - columns of a table
    rows: int, keys: int, heads: tuple[int, int, int], head_dim: int, causal: bool, expected: Share
) -> None:
    found = share(workload(rows, keys, heads, head_dim=head_dim, causal=causal))
    assert found[:3] == expected[:3]
    assert "fill tiles together" in found.reason


def test_wide_heads_are_packed_only_where_the_model_says_that_it_saves_a_quarter() -> None:
    """Of 224 tiles, of which 144 packed ones in thirds were slower (H100)."""
    problem = workload(150, 4914, (4, 28, 4), head_dim=256, causal=True)
    usual, thirds = Share(TileShape(2, 80)), Share(TileShape(2, 80), 7, 3)
    spared = 1 - flash3_share._cost(problem, thirds) / flash3_share._cost(problem, usual)
    assert 1 - SURE < spared < 1 - SURE_WIDE
    assert share(problem)[:3] == usual[:3]


def test_more_tiles_than_sms_are_cut_into_parts_where_few_of_them_make_a_wave_more() -> None:
    problem = workload(275, 16384, (2, 32, 32), head_dim=192, causal=True)
    found = share(problem)
    assert (found.pack_gqa, found.splits) == (1, 2)
    assert SMS < ceil(275 / found.shape.rows) * 64 <= FEW_WAVES * SMS
    parts = flash3_shared(problem, found)
    assert {buffer.shape for buffer in parts if buffer.dtype == "float32"} == {
        (64, 2, 275, 192),
        (64, 2, 275, 2),
    }


@pytest.mark.parametrize(
    "more",
    [
        {"window": (4000, 0)},
        {"page_size": 64},
        {"softcap": 30.0},
        {"alibi": True},
        {"sinks": True},
        {"head_dim_v": 128},
        {"query_lengths": (9, 150, 20)},
        {"block_mask": BlockMask.random(150, 4992, block_q=64, block_k=64, kept_share=0.9, seed=1)},
    ],
    ids=str,
)
def test_other_masks_layouts_and_scores_keep_the_usual_ways(more: dict[str, Any]) -> None:
    assert share(workload(150, 4992, (3, 30, 10), head_dim=256)).pack_gqa == 3
    assert share(workload(150, 4992, (3, 30, 10), head_dim=256, **more)).pack_gqa == 1


@given(
    seqlen_q=st.integers(1, 2000),
    seqlen_k=st.integers(1, 60_000),
    batch=st.integers(1, 9),
    kv_heads=st.integers(1, 12),
    group=st.integers(1, 9),
    head_dim=st.sampled_from(range(64, 257, 32)),
    causal=st.booleans(),
)
def test_another_way_is_taken_only_where_the_model_is_sure(
    seqlen_q: int, seqlen_k: int, batch: int, kv_heads: int, group: int, **rest: Any
) -> None:
    problem = workload(seqlen_q, seqlen_k, (batch, kv_heads * group, kv_heads), **rest)
    usual = min(flash3_share._candidates(problem), key=lambda one: flash3_share._cost(problem, one))
    other = flash3_share._surely_better(problem, usual)
    if other is not None:
        spared = flash3_share._cost(problem, usual) - flash3_share._cost(problem, other)
        sure = SURE_WIDE if problem.head_dim > WIDE_HEAD else SURE
        assert spared >= (1 - sure) * flash3_share._cost(problem, usual)
        assert seqlen_k >= KEYS_A_ROW * seqlen_q


@pytest.mark.parametrize(
    ("rows", "heads", "keys"),
    [(63, (1, 32, 8), 64), (64, (1, 16, 16), 64), (64, (1, 32, 8), 128), (65, (1, 16, 16), 128)],
)
def test_rows_of_one_tile_read_keys_that_no_other_head_reads_in_tiles_of_64(
    rows: int, heads: tuple[int, int, int], keys: int
) -> None:
    """The memory sets their pace, as it does that of fewer rows; keys of several heads come from the L2."""
    problem = workload(rows, 65536, heads, head_dim=128)
    assert [*flash3_share.small_shapes(problem)][-1] == TileShape(1, keys)


@pytest.mark.parametrize(("batch", "splits"), [(1, 8), (64, 1)])
def test_that_tile_is_taken_in_parts_and_whole(batch: int, splits: int) -> None:
    problem = workload(64, 65536, (batch, 16, 16), head_dim=128)
    assert share(problem)[:3] == (TileShape(1, 64), 1, splits)


@pytest.mark.parametrize("name", ["peers", "decode", "thin"])
def test_the_problems_of_the_presets_keep_the_usual_ways(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [*PRESETS[name].problems("cuda", 0)]
    found = [share(problem) for problem in problems]
    monkeypatch.setattr(flash3_share, "_surely_better", lambda *_: None)
    assert found == [share.__wrapped__(problem) for problem in problems]
