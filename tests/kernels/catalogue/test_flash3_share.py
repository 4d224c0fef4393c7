"""How flash3 shares a problem among the SMs: decided by the problem, told in words, held in the ledger."""

from math import ceil, prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from flashscope.kernels.catalogue import flash3_share
from flashscope.kernels.catalogue.flash3_share import (
    FEW_WAVES,
    LONG_WIDE,
    NARROW_HEAD,
    PART_KEYS,
    SMS,
    WIDE_HEAD,
    Share,
    TileShape,
    lifted_rows,
    share,
    small_shapes,
    usual_shape,
)
from flashscope.kernels.catalogue.flash3_steps import GROUP_ROWS, HALF_STEP_COST, STEP_COSTS, causal_cost
from flashscope.kernels.catalogue.ladder import FLASH3, FLASH3_A
from flashscope.kernels.catalogue.workspace import flash3_shared
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.kernels.workload.problem import Problem


def workload(seqlen_q: int, seqlen_k: int, **rest: Any) -> Problem:
    return Problem(seqlen_q=seqlen_q, seqlen_k=seqlen_k, **{"head_dim": 128, "dtype": "bfloat16", **rest})


def test_one_query_over_many_keys_is_split_until_the_sms_are_full() -> None:
    found = share(workload(1, 131072, heads=32, kv_heads=8))
    assert found[:4] == (TileShape(1, 64), 4, 16, False)
    assert 8 * found.splits <= SMS < 8 * (found.splits + 1)


def test_the_heads_that_share_keys_fill_a_tile_together_while_one_leaves_room() -> None:
    packed = [share(workload(rows, 65536, heads=32, kv_heads=8)).pack_gqa for rows in (1, 16, 63)]
    assert packed == [4, 4, 4]
    assert share(workload(1024, 65536, heads=32, kv_heads=8)).pack_gqa == 1
    assert share(workload(1, 65536, heads=32)).pack_gqa == 1


@pytest.mark.parametrize(
    ("batch", "rows", "keys", "rest", "packed"),
    [
        (8, 333, 333, {}, 4),  # 88 of 128 rows for each K/V head of a sequence instead of 96
        (3, 2100, 2100, {}, 4),
        (4, 1024, 1024, {}, 1),  # whole tiles
        (4, 200, 8192, {}, 1),  # two waves of 132 either way
        (8, 333, 333, {"causal": True}, 1),  # a tile of several heads walks over what any row sees
        (8, 333, 333, {"window": (50, 50)}, 1),
        (8, 333, 333, {"head_dim": 64}, 1),  # three warpgroups pack few rows before many keys alone
    ],
)
def test_longer_heads_do_so_where_that_leaves_fewer_rows_of_tiles_empty(
    batch: int, rows: int, keys: int, rest: dict[str, Any], packed: int
) -> None:
    found = share(workload(rows, keys, batch=batch, heads=32, kv_heads=8, **rest))
    assert found.pack_gqa == packed
    assert ("fill tiles together" in found.reason) == (packed > 1)


def test_nothing_is_split_where_the_memory_sets_the_pace_already() -> None:
    assert share(workload(1, 8192, batch=16, heads=32, kv_heads=8)).splits == 1


@pytest.mark.parametrize(
    ("batch", "heads", "keys", "splits"), [(3, 32, 5000, 8), (4, 30, 4096, 1), (3, 32, 2000, 1)]
)
def test_but_where_sms_were_idle_meanwhile_and_it_takes_long_enough(
    batch: int, heads: int, keys: int, splits: int
) -> None:
    """96 tiles leave 36 of 132 SMs idle, 120 only 12."""
    assert share(workload(1, keys, batch=batch, heads=heads)).splits == splits


@pytest.mark.parametrize("keys", [16, 128, 256])
def test_few_keys_are_not_worth_a_second_launch(keys: int) -> None:
    assert share(workload(1, keys, heads=32, kv_heads=8)).splits == 1


@pytest.mark.parametrize(
    ("batch", "heads", "seqlen", "expected"),
    [
        (1, 8, 512, TileShape(1, 128)),
        (1, 16, 2048, TileShape(2, 128)),
        (4, 16, 1024, TileShape(3, 128)),
        (16, 32, 1024, TileShape(3, 128)),
    ],
)
def test_few_tiles_are_cut_smaller_until_the_sms_have_work(
    batch: int, heads: int, seqlen: int, expected: TileShape
) -> None:
    """192 tiles of 192 rows take two waves of 132 SMs, and so do 256 of 128 rows."""
    found = share(workload(seqlen, seqlen, batch=batch, heads=heads, head_dim=64))
    assert (found.shape, found.splits) == (expected, 1)


def test_the_preset_s_many_tiles_keep_the_usual_cut() -> None:
    for head_dim, heads in ((64, 32), (128, 16), (256, 8)):
        for seqlen in (1024, 4096, 16384):
            for causal in (False, True):
                problem = workload(seqlen, seqlen, batch=16384 // seqlen, heads=heads, head_dim=head_dim)
                found = share(structs.replace(problem, causal=causal))
                long = seqlen == 16384 and (head_dim == 64 or (head_dim == 256 and causal))
                assert found[:4] == (usual_shape(structs.replace(problem, causal=causal)), 1, 1, not long)


@pytest.mark.parametrize(
    ("head_dim", "seqlen", "causal", "draws"),
    [
        (64, 8192, True, True),
        (64, 16384, False, False),
        (128, 16384, True, True),
        (256, 16384, False, True),
        (256, 4096, True, True),
        (256, 8192, True, False),
    ],
)
def test_tiles_of_many_keys_are_not_drawn_early_where_that_loses(
    head_dim: int, seqlen: int, causal: bool, draws: bool
) -> None:
    problem = workload(seqlen, seqlen, heads=16, head_dim=head_dim, causal=causal)
    assert share(problem).draws == draws
    assert share(structs.replace(problem, window=(1024, 0))).draws


@pytest.mark.parametrize(
    ("batch", "seqlen_q", "head_dim", "residents"),
    [(64, 1, 128, 2), (64, 1, 64, 2), (16, 1, 128, 1), (64, 64, 128, 1), (64, 1, 192, 1)],
)
def test_two_blocks_share_an_sm_where_few_queries_make_more_than_one_for_each(
    batch: int, seqlen_q: int, head_dim: int, residents: int
) -> None:
    """512 tiles of 64 keys; 128; wider ones, of more queries or columns, of which one fits."""
    problem = workload(seqlen_q, 4096, batch=batch, heads=32, kv_heads=8, head_dim=head_dim)
    assert share(problem).residents == residents
    assert ("two blocks share an SM" in share(problem).reason) == (residents == 2)


def test_the_reason_is_told_in_words() -> None:
    assert share(workload(1, 65536, heads=32, kv_heads=8)).reason == (
        "132 SMs get 8 tiles of 64 queries; the 4 query heads of a K/V head fill tiles together; "
        "keys are cut into 16 parts, merged by a second launch"
    )
    assert share(workload(512, 512, heads=8)).reason == (
        "132 SMs get 64 tiles of 64 queries; not 32 of 128, which use them less"
    )
    assert share(workload(8192, 8192, heads=16)).reason == "1,024 tiles of 128 queries keep 132 SMs busy"


def test_the_workspace_holds_every_part_s_output_and_sums_in_float32() -> None:
    problem = workload(1, 131072, batch=2, heads=32, kv_heads=8)
    parts = share(problem).splits
    assert parts > 1
    assert FLASH3.workspace_bytes(problem, "cuda") == 8 + parts * problem.rows * (128 + 2) * 4
    assert FLASH3_A.workspace_bytes(problem, "cuda") == 8
    whole = flash3_shared(problem, Share(usual_shape(problem)))
    assert sum(buffer.nbytes for buffer in whole) == 8


def test_under_a_block_mask_only_keys_are_split_and_only_where_tiles_are_few() -> None:
    few, many = (
        workload(
            256,
            16384,
            heads=heads,
            block_mask=BlockMask.random(256, 16384, block_q=128, block_k=128, kept_share=0.5),
        )
        for heads in (4, 128)
    )
    assert share(few).splits > 1
    assert share(many).splits == 1
    assert share(few).pack_gqa == 1


@given(
    seqlen_q=st.integers(1, 5000),
    seqlen_k=st.integers(1, 200_000),
    batch=st.integers(1, 9),
    kv_heads=st.integers(1, 9),
    group=st.integers(1, 9),
    head_dim=st.sampled_from(range(64, 257, 32)),
    causal=st.booleans(),
    window=st.none() | st.tuples(st.integers(-1, 3000), st.integers(-1, 3000)),
)
def test_any_problem_is_shared_within_bounds(
    seqlen_q: int, seqlen_k: int, batch: int, kv_heads: int, group: int, **rest: Any
) -> None:
    problem = workload(seqlen_q, seqlen_k, batch=batch, heads=kv_heads * group, kv_heads=kv_heads, **rest)
    found = share(problem)
    tiles = (
        prod((batch, kv_heads, group)) // found.pack_gqa * ceil(seqlen_q * found.pack_gqa / found.shape.rows)
    )
    assert found.shape in (usual_shape(problem), *small_shapes(problem))
    assert found.pack_gqa in {1, group}
    most = SMS if problem.features - {"causal", "gqa"} else FEW_WAVES * SMS
    assert found.splits == 1 or (tiles <= most and seqlen_k // found.splits >= PART_KEYS)
    wide = problem.head_dim > WIDE_HEAD and problem.causal
    long = seqlen_k // found.splits >= LONG_WIDE and (wide or problem.head_dim == NARROW_HEAD)
    assert found.draws or seqlen_q <= GROUP_ROWS or tiles * found.splits <= 2 * SMS or long
    assert found.reason


@given(
    seqlen_q=st.integers(1, 2000),
    seqlen_k=st.integers(1, 2000),
    causal=st.booleans(),
    window=st.none() | st.tuples(st.integers(-1, 3000), st.integers(-1, 3000)),
    groups=st.integers(1, 3),
)
def test_a_tile_walks_from_the_first_to_the_last_key_that_any_of_its_rows_sees(
    groups: int, seqlen_q: int, seqlen_k: int, **rest: Any
) -> None:
    problem, shape, walked = workload(seqlen_q, seqlen_k, **rest), TileShape(groups, 128), []
    for first in range(0, seqlen_q, shape.rows):
        rows = range(first, min(first + shape.rows, seqlen_q))
        bands = [*filter(None, map(problem.mask.band, rows))]
        walked.append(max(band.stop for band in bands) - min(band.start for band in bands) if bands else 0)
    load = flash3_share._load(problem, shape, 1)
    assert load == (len(walked), max(walked), sum(walked) / len(walked))


def test_pages_make_up_tiles_or_tiles_make_up_pages() -> None:
    for head_dim in FLASH3.head_dims["cuda"]:
        for page_size in PAGE_SIZES:
            for keys in (256, 8192):
                problem = workload(64, keys, head_dim=head_dim, page_size=page_size)
                for shape in (usual_shape(problem), *small_shapes(problem)):
                    assert shape.block_k % page_size == 0 or page_size % shape.block_k == 0


def test_the_lengths_decide_not_the_room_for_them() -> None:
    """A cache with room for 131072 keys that holds 200 is not split; one that holds many is, as if alone."""
    cache = {"batch": 2, "heads": 32, "kv_heads": 8}
    short = share(workload(1, 131072, **cache, key_lengths=(200, 180)))
    assert (short.splits, short.shape) == (1, share(workload(1, 200, **cache)).shape)
    long = share(workload(1, 131072, **cache, key_lengths=(131072, 0)))
    alone = share(workload(1, 131072, **{**cache, "batch": 1}))
    assert long.splits == alone.splits > 1
    roomy = workload(1, 1 << 20, **{**cache, "batch": 8}, key_lengths=(131072, *[0] * 7))
    assert share(roomy).splits == alone.splits
    few = workload(100, 131072, batch=2, key_lengths=(200, 180))
    assert [*small_shapes(few)] == [*small_shapes(workload(100, 200))] == [TileShape(2, 64), TileShape(1, 64)]


def test_packed_heads_and_parts_are_counted_for_sequences_that_have_something() -> None:
    rows = {"batch": 3, "heads": 8, "kv_heads": 2, "query_lengths": (4, 0, 1)}
    found = share(workload(4, 16384, **rows, page_size=16))
    assert (found.pack_gqa, found.shape) == (4, TileShape(1, 64))
    assert "64 keys a tile suit pages of 16" in found.reason
    assert f"{SMS} SMs get 4 tiles" in found.reason


def test_a_batch_without_any_key_has_a_share() -> None:
    assert share(workload(4, 64, batch=2, key_lengths=(0, 0))).splits == 1


@given(st.integers(1, 9000), st.integers(1, 9000), st.sampled_from([112, 128, 160]))
def test_the_cost_of_causal_rows_is_the_sum_over_row_tiles(
    seqlen_q: int, seqlen_k: int, block_k: int
) -> None:
    ends = (min(row + 128, seqlen_q) + seqlen_k - seqlen_q for row in range(0, seqlen_q, 128))
    seen = [ceil(end / block_k) for end in ends if end > 0]
    spared = (STEP_COSTS[128] - HALF_STEP_COST) // 2 if block_k == 128 else 0
    cost = causal_cost(workload(seqlen_q, seqlen_k, causal=True), block_k)
    assert cost == sum(seen) * STEP_COSTS[block_k] - spared * len(seen)


@pytest.mark.parametrize(
    ("rows", "keys", "rest", "lift"),
    [
        (2500, 2600, {}, 36),  # the last tile has 60 rows to spare
        (2500, 2600, {"head_dim": 64}, 0),  # no registers are left
        (2500, 2600, {"causal": False}, 0),
        (2500, 2600, {"window": (500, 0)}, 0),
        (2500, 2600, {"head_dim": 256}, 0),  # no half of a key tile is computed there
        (2500, 2500, {}, 0),
        (2500, 2564, {}, 0),  # the diagonal meets a half as it is
        (2500, 2400, {}, 0),  # some rows see no key
        (2560, 2660, {}, 0),  # a tile more would be needed
    ],
)
def test_tiles_begin_before_the_first_row_where_that_meets_the_diagonal(
    rows: int, keys: int, rest: dict[str, Any], lift: int
) -> None:
    problem = workload(rows, keys, **{"batch": 6, "heads": 16, "causal": True, **rest})
    assert lifted_rows(problem, share(problem)) == lift


def test_tiles_of_several_heads_and_parts_of_keys_begin_at_the_first_row() -> None:
    problem = workload(100, 192, batch=6, heads=16, kv_heads=4, causal=True)
    usual = Share(usual_shape(problem))
    others = [usual._replace(pack_gqa=4), usual._replace(splits=2), usual._replace(draws=False)]
    assert [lifted_rows(problem, one) for one in (usual, *others)] == [28, 0, 0, 0]


@given(rows=st.integers(1, 5000), keys=st.integers(1, 5000), head_dim=st.sampled_from((64, 128)))
def test_tiles_that_begin_before_the_first_row_are_no_more_and_end_by_halves(
    rows: int, keys: int, head_dim: int
) -> None:
    problem = workload(rows, keys, heads=64, head_dim=head_dim, causal=True)
    usual = Share(usual_shape(problem))
    lift, tile = lifted_rows(problem, usual), usual.shape.rows
    assert 0 <= lift < GROUP_ROWS
    assert ceil((rows + lift) / tile) == ceil(rows / tile)
    assert lift == 0 or (keys - rows - lift) % GROUP_ROWS == 0


def test_few_queries_of_wide_heads_read_many_keys_in_tiles_of_80_and_up_to_11_parts() -> None:
    """Where tiles fill more than half of the SMs; of fewer tiles, or fewer keys, 64."""
    many = workload(1, 32768, batch=6, heads=32, kv_heads=16, head_dim=256)
    found = share(many)
    assert (found.shape, found.splits) == (TileShape(1, 80), 11)
    changes: list[dict[str, Any]] = [{"batch": 2}, {"seqlen_k": 8192}, {"page_size": 64}]
    others = [structs.replace(many, **change) for change in changes]
    assert {share(one).shape for one in others} == {TileShape(1, 64)}
