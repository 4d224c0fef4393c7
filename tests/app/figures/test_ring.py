"""The ring of readings, what of it is drawn, and the spans behind it."""

import numpy as np
import psutil
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.figures.ring import HELD_S, SHOWN, ReadingRing, held, thin
from flashscope.app.figures.spans import seqlen_changes, spans_of
from flashscope.profiles.wire.events import Reading
from tests.profiles.sessions import T0, make_plan, script, session_of, turns_of


def _reading(second: float, used: int | None = 7) -> Reading:
    return Reading(t_ns=T0 + round(second * 1e9), memory_used=used)


@given(st.integers(1, 50), st.integers(0, 120))
def test_the_ring_keeps_the_newest_readings_in_order(capacity: int, count: int) -> None:
    ring = ReadingRing(capacity)
    ring.extend([_reading(i, i) for i in range(count // 3)])
    ring.extend([_reading(i, i) for i in range(count // 3, count)])
    kept = list(range(max(0, count - capacity), count))
    assert len(ring) == len(kept)
    assert ring.values("memory_used").tolist() == kept
    assert ring.times().tolist() == kept


def test_a_field_that_was_not_available_is_a_gap_and_never_zero() -> None:
    ring = ReadingRing(8)
    ring.extend([_reading(0, None), _reading(1, 5)])
    assert np.isnan(ring.values("memory_used")[0])
    assert np.isnan(ring.values("power_w")).all()
    assert ring.latest("power_w") is None
    assert ring.latest("memory_used") == 5


def test_memory_is_taken_as_readings_come_and_not_for_all_columns_at_once() -> None:
    ring, process = ReadingRing(), psutil.Process()
    before = process.memory_info().rss
    ring.extend([_reading(0)])
    assert process.memory_info().rss - before < 4 << 20, "the window would wait until that much was cleared"


def test_times_count_from_the_origin_of_the_session() -> None:
    ring = ReadingRing(8)
    ring.clear(T0)
    ring.extend([_reading(2.5)])
    assert ring.times().tolist() == [2.5]


@given(st.integers(SHOWN + 1, 30_000), st.integers(0, 10**6))
def test_thinning_keeps_few_points_every_spike_and_the_newest_reading(count: int, place: int) -> None:
    values = np.zeros(count)
    values[place % count] = 9.0
    times, shown = thin(np.arange(count, dtype=np.float64), values)
    assert times.size == shown.size <= SHOWN
    assert shown.max() == 9.0
    assert times[-1] == count - 1
    assert (np.diff(times) > 0).all()


@given(
    st.integers(SHOWN + 1, 30_000),
    st.lists(st.tuples(st.integers(0, 30_000), st.integers(1, 300)), max_size=5),
    st.integers(0, 10**6),
)
def test_thinning_keeps_every_gap_where_it_is_and_the_spikes_beside_it(
    count: int, gaps: list[tuple[int, int]], seed: int
) -> None:
    values = np.random.default_rng(seed).normal(size=count)
    for start, length in gaps:
        values[start : start + length] = np.nan
    times, shown = thin(np.arange(count, dtype=np.float64), values)
    assert np.nanmax(shown) == np.nanmax(values)
    assert np.nanmin(shown) == np.nanmin(values)
    # A reading that was left out is drawn as the last one kept before it.
    held = np.searchsorted(times, np.arange(count), side="right") - 1
    after_first = held >= 0
    assert (np.isnan(shown[held]) == np.isnan(values))[after_first].all()


def test_a_reading_holds_no_longer_than_readings_come_so_that_a_lost_device_leaves_a_gap() -> None:
    ring = ReadingRing()
    ring.extend([Reading(t_ns=int(s * 1e9), memory_used=1) for s in (0.0, 0.5, 60.0, 60.5)])
    times, values = held(ring.times(), ring.values("memory_used"))
    assert times.tolist() == [0.0, 0.5, 0.5 + HELD_S, 60.0, 60.5]
    assert np.isnan(values).tolist() == [False, False, True, False, False]
    assert ring.at("memory_used", 0.5 + HELD_S) == 1
    assert ring.at("memory_used", 30.0) is None
    close = np.arange(100, dtype=np.float64)
    assert held(close, close)[0] is close


def test_a_short_series_is_drawn_whole() -> None:
    times = np.arange(100, dtype=np.float64)
    assert thin(times, times)[0].size == 100


def test_spans_name_the_kernel_that_ran_and_an_open_one_has_no_end() -> None:
    plan = make_plan(("standard",), (512, 1024, 2048))
    session = session_of(script(plan, stop_before=2, in_flight=True))
    spans = spans_of(session)
    assert [(span.kernels, span.seqlen) for span in spans] == [(("standard",), n) for n in (512, 1024, 2048)]
    assert spans[-1].end_s is None
    assert all(span.end_s is not None and span.end_s > span.start_s for span in spans[:-1])
    assert [n for _, n in seqlen_changes(spans)] == [512, 1024, 2048]


def test_a_span_of_turns_names_every_kernel_that_takes_them() -> None:
    plan = make_plan(("standard", "flash2"), (512,))
    spans = spans_of(session_of([*script(plan, stop_before=0), *turns_of(plan)]))
    assert [span.kernels for span in spans] == [("standard",), ("flash2",), ("standard", "flash2")]
    assert [span.end_s is None for span in spans] == [False, False, True]
