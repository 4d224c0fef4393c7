"""What each pixel of a timeline shows, at any zoom, is what the bars under it say."""

from itertools import pairwise
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.figures import lane_bars
from flashscope.app.figures.lane_bars import WAITS, LaneBars
from flashscope.app.figures.timeline_rows import TimelineRows
from flashscope.kernels.workload.trace import Array
from tests.app.timelines import made_timeline

SPAN = 1024


@st.composite
def drawn_bars(draw: st.DrawFn) -> LaneBars:
    """One to three lanes of up to eight bars within a span of 1024."""
    lanes = draw(st.integers(1, 3))
    told: list[tuple[int, int, int, int]] = []
    for lane in range(lanes):
        ends = sorted(draw(st.lists(st.integers(0, SPAN), max_size=16, unique=True)))
        pairs = zip(ends[0::2], ends[1::2], strict=False)
        told += [(lane, draw(st.integers(0, 4)), begin, end) for begin, end in pairs]
    lane, stage, begin, end = np.array(told, np.int64).reshape(-1, 4).T
    return LaneBars(lanes, 5, SPAN, lane, stage, begin, end)


def moments(bars: LaneBars) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """What each lane does at each moment, (lanes, span), bar by bar."""
    shown = np.zeros((bars.lanes, bars.span), np.uint8)
    for lane, stage, begin, end in zip(bars.lane, bars.stage, bars.begin, bars.end, strict=True):
        shown[lane, begin:end] = stage + 1
    return shown


@given(drawn_bars(), st.integers(0, SPAN - 1), st.integers(1, 64))
def test_where_pixels_are_shorter_than_cells_each_shows_the_moment_at_its_left_end(
    bars: LaneBars, start: int, length: int
) -> None:
    end = min(start + length, SPAN)
    shown = bars._cut((float(start), float(end)), end - start, 0, bars.lanes, seams=False)
    assert np.array_equal(shown, moments(bars)[:, start:end])


@settings(deadline=None)
@given(drawn_bars())
def test_where_a_pixel_holds_many_moments_no_other_stage_has_more_of_them(bars: LaneBars) -> None:
    columns = lane_bars.COARSEST
    with patch.object(lane_bars, "WIDE_PX", 10**6):
        shown = bars.pixels((0.0, float(SPAN)), columns, 0, bars.lanes)
    each = moments(bars).reshape(bars.lanes, columns, -1)
    counts = np.stack([(each == value).sum(axis=2) for value in range(6)])
    chosen = np.take_along_axis(counts, shown[None].astype(np.intp), axis=0)[0]
    assert (chosen == counts.max(axis=0)).all()


@given(drawn_bars(), st.integers(0, 2), st.floats(-10, SPAN + 10))
def test_the_bar_at_a_moment_is_the_one_that_lasts_then(bars: LaneBars, lane: int, moment: float) -> None:
    place = bars.at(lane, moment)
    told = zip(bars.lane, bars.begin, bars.end, strict=True)
    there = [n for n, (other, begin, end) in enumerate(told) if other == lane and begin <= moment < end]
    assert ([] if place is None else [place]) == there


def test_a_part_beyond_all_bars_waits_and_lanes_can_be_asked_for_alone() -> None:
    bars = TimelineRows.of(made_timeline(rows=3, row_kind="SM")).bars
    assert (bars.pixels((bars.span * 1.0, bars.span * 2.0), 50, 0, 3) == WAITS).all()
    whole = bars.pixels((0.0, bars.span / 9), 300, 0, 3)
    assert np.array_equal(bars.pixels((0.0, bars.span / 9), 300, 1, 2), whole[1:2])


def test_bars_that_have_room_stand_apart_by_one_pixel() -> None:
    bars = TimelineRows.of(made_timeline()).bars
    shown = bars.pixels((0.0, 1000.0), 40, 0, 1)[0].tolist()
    assert shown == [value for stage in range(4) for value in (*[stage + 1] * 9, WAITS)]


def test_levels_halve_down_to_the_coarsest_and_no_more_cells_are_made_than_allowed() -> None:
    bars = LaneBars(4096, 5, 10, *(np.zeros(0, np.int64) for _ in range(4)))
    assert bars.finest * bars.lanes <= lane_bars.MOST_CELLS
    few = TimelineRows.of(made_timeline()).bars
    widths = [level.shape[1] for level in few.levels]
    assert widths[0] == lane_bars.FINEST
    assert widths[-1] == lane_bars.COARSEST
    assert all(before == 2 * after for before, after in pairwise(widths))


def test_rows_by_block_hold_each_block_alone_and_keep_every_bar() -> None:
    timeline = made_timeline(causal=True)
    rows = TimelineRows.of(timeline, "block")
    assert list(rows.names) == [f"h{head} i {i}" for head in range(2) for i in range(4)]
    assert len(rows.bars.lane) == len(timeline.stage.numpy())
    for lane, (head, i) in enumerate((head, i) for head in range(2) for i in range(4)):
        assert {tuple(tile[:2]) for tile in rows.tile[rows.bars.lane == lane].tolist()} == {(head, i)}
    assert (np.diff(rows.bars.begin)[np.diff(rows.bars.lane) == 0] > 0).all()


def test_flash1_and_backward_passes_have_a_row_for_each_key_block_and_a_place_has_the_devices_names() -> None:
    assert TimelineRows.of(made_timeline(passes="backward"), "block").names[1] == "h0 j 1"
    by_keys = TimelineRows.of(made_timeline("flash1"), "block")
    assert (by_keys.names[1], by_keys.key) == ("h0 j 1", "h head, j key block")
    placed = TimelineRows.of(made_timeline(rows=2, row_kind="SM"))
    assert (placed.names, placed.key) == (["SM 0", "SM 1"], "")


def test_of_rows_those_that_end_last_stay_in_their_order_with_their_bars() -> None:
    whole = TimelineRows.of(made_timeline(seqlen=128, causal=True, rows=6, lanes=("a", "b"), row_kind="SM"))
    bars = whole.bars
    ends = [max(bars.end[bars.lane // 2 == row], default=0) for row in range(6)]
    fewer = whole.last_to_end(2)
    latest = sorted(sorted(range(6), key=lambda row: -ends[row])[:2])
    assert fewer.names == [f"SM {row}" for row in latest]
    assert fewer.bars.lanes == 4
    for place, row in enumerate(latest):
        kept, before = fewer.bars.lane // 2 == place, bars.lane // 2 == row
        assert (fewer.bars.begin[kept] == bars.begin[before]).all()
        assert (fewer.bars.lane[kept] % 2 == bars.lane[before] % 2).all()
        assert (fewer.tile[kept] == whole.tile[before]).all()
    assert whole.last_to_end(6) is whole


def test_a_block_that_runs_in_two_places_at_once_has_a_row_for_each() -> None:
    made = made_timeline(rows=2, row_kind="SM")
    tile = made.tile.numpy().copy()
    tile[:, :2] = 0  # parts of one block's keys
    rows = TimelineRows.of(replace(made, tile=Array.of(tile)), "block")
    assert (rows.names, rows.key) == (["h0 i 0 · 0", "h0 i 0 · 1"], "h head, i query block · SM")
    placed = TimelineRows.of(made)
    part = (0.0, placed.bars.span / 9)
    assert np.array_equal(rows.bars.pixels(part, 300, 0, 2), placed.bars.pixels(part, 300, 0, 2))
