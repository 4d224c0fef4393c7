"""The telemetry as it is read: lanes that exist, one pointer through all, one time, peaks and means."""

import dataclasses
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.figures.lanes import FIELDS, LANES
from flashscope.app.figures.ring import ReadingRing
from flashscope.app.figures.spans import Span, coarse, ends_of, running_at, seqlen_stretches, spans_of
from flashscope.app.figures.time_view import NEAREST_S, TimeView
from flashscope.app.look.theme import LIGHT
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.profile.telemetry.device_lanes import UNREAD
from flashscope.app.plots.timeline.telemetry import peak_and_mean
from flashscope.app.shell.shots import grab_whole
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Reading, Readings
from tests.app.bench import Bench
from tests.app.rig import Rig
from tests.profiles.sessions import CPU_TELEMETRY, make_plan, script, session_of

LENGTHS = (512, 1024, 2048)
SHARES = ("sm_share", "tensor_share", "dram_share")


@pytest.fixture
def saved(bench: Bench) -> Bench:
    """A page with a session that has ended."""
    recorded = session_of(script(make_plan(("standard", "flash2"), LENGTHS)))
    bench.controller._shown._show(recorded, "saved", None)
    bench.page.show_view("telemetry")
    bench.drawn()
    return bench


def session(bench: Bench) -> Session:
    assert bench.controller.session is not None
    return bench.controller.session


@pytest.mark.matrix
def test_lanes_of_shares_are_there_once_a_reading_has_one(saved: Bench) -> None:
    strip = saved.page.bottom.strip
    assert not any(strip.rows[field].isVisible() for field in SHARES)
    last = strip.ring.times()[-1]
    shares = Reading(t_ns=session(saved).t0_ns + round((last + 0.1) * 1e9), sm_share=0.9, tensor_share=0.5)
    session(saved).apply(Readings(readings=(shares,)))
    strip.draw()
    saved.drawn()
    assert [strip.rows[field].isVisible() for field in SHARES] == [True, True, False]
    assert strip.value_text("sm_share") == "90%"
    assert np.nanmax(strip.lanes["sm_share"].curve.getData()[1]) == pytest.approx(90)


@pytest.mark.matrix
def test_a_display_that_was_frozen_moves_again_for_the_next_session(saved: Bench) -> None:
    bottom = saved.page.bottom
    bottom.freeze.click()
    last = float(bottom.strip.lanes["memory_used"].curve.getData()[0][-1])
    longer = session_of(script(make_plan(("standard", "flash2"), (*LENGTHS, 4096))))
    saved.controller._shown._show(longer, "saved", None)
    saved.drawn()
    assert not bottom.freeze.isChecked()
    assert float(bottom.strip.lanes["memory_used"].curve.getData()[0][-1]) > last


@pytest.mark.matrix  # it takes a second
def test_the_pointer_reads_all_lanes_at_its_moment_and_names_what_ran_then(saved: Bench) -> None:
    strip = saved.page.bottom.strip
    span = strip.first.shown.spans[1]
    assert span.end_s is not None
    middle = (span.start_s + span.end_s) / 2
    newest = strip.value_text("power_w")
    strip.lanes["power_w"].pointed.emit(middle)
    saved.qtbot.waitUntil(lambda: strip.first.head.running.text() != "")
    assert strip.first.head.upper.text() == f"{middle:.2f} s · N = 512"
    assert strip.first.head.running.text() == span.kernels[0]
    for lane in LANES:
        if strip.offered(lane):
            value = strip.ring.at(lane.field, middle)
            assert value is not None
            strip.rows[lane.field].show_value(value)
            assert strip.value_text(lane.field) == strip.rows[lane.field].value_text
    assert all(line.isVisible() for line in strip.time.pointer._lines)
    strip.lanes["power_w"].pointed.emit(None)
    saved.qtbot.waitUntil(lambda: strip.first.head.running.text() == "")
    assert strip.value_text("power_w") == newest


@pytest.mark.matrix
def test_the_wheel_zooms_all_lanes_around_the_pointer_and_fitting_shows_all_again(saved: Bench) -> None:
    strip = saved.page.bottom.strip
    whole = strip.first.shown.view
    lane = strip.lanes["memory_used"]
    place = QPointF(lane.viewport().rect().center())
    before = lane.box.mapSceneToView(lane.mapToScene(place.toPoint())).x()
    for _ in range(4):
        wheel = QWheelEvent(
            place,
            lane.viewport().mapToGlobal(place),
            QPoint(),
            QPoint(0, 120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(lane.viewport(), wheel)
        saved.drawn()
    view = strip.first.shown.view
    assert view[1] - view[0] == pytest.approx((whole[1] - whole[0]) * 0.8**4, rel=0.01)
    assert lane.box.mapSceneToView(lane.mapToScene(place.toPoint())).x() == pytest.approx(before, rel=0.02)
    for plot in (strip.ruler, *(strip.lanes[one.field] for one in LANES if strip.offered(one))):
        assert plot.box.viewRange()[0] == pytest.approx(list(view))
    saved.page.fit()
    saved.drawn()
    assert strip.first.shown.view == whole


@pytest.mark.matrix
def test_choosing_a_point_in_the_table_frames_its_span_and_looks_at_it(saved: Bench) -> None:
    strip = saved.page.bottom.strip
    strip.time.view.zoom(0.05, 0.0, strip.first.shown.view)
    strip.draw()
    saved.page.bottom.table.choose_point(4)
    saved.drawn()
    ends = ends_of(spans_of(session(saved)), 4)
    assert ends is not None
    assert strip.ruler._chosen.isVisible()
    assert strip.ruler._chosen.getRegion() == pytest.approx(ends)
    view = strip.first.shown.view
    assert view[0] <= ends[0]
    assert ends[1] <= view[1]


@pytest.mark.matrix
def test_a_saved_session_tells_peak_and_mean_of_what_is_on_show(saved: Bench) -> None:
    strip = saved.page.bottom.strip
    power = strip.ring.values("power_w")
    peak, mean = np.nanmax(power), np.nanmean(power)
    stats = strip.rows["power_w"]._stats.text()
    assert stats.startswith("peak ")
    known = peak_and_mean(strip.ring.times(), power, strip.first.shown.view)
    assert known == pytest.approx((peak, mean))


@pytest.mark.matrix
def test_labels_of_n_stand_above_the_lanes_each_within_its_stretch(saved: Bench) -> None:
    ruler = saved.page.bottom.strip.ruler
    spans, view = saved.page.bottom.strip.first.shown.spans, saved.page.bottom.strip.first.shown.view
    labels = ruler._labels(spans, view)
    stretches = seqlen_stretches(spans, view[1])
    assert {text for _, text in labels} == {"512", "1k", "2k"}
    for place, text in labels:
        assert [seqlen_text(n) for start, end, n in stretches if start < place < end] == [text]
    texts = [item for lane in saved.page.bottom.strip.lanes.values() for item in lane.items()]
    assert not any(getattr(item, "toPlainText", str)() in {"512", "1k", "2k"} for item in texts)


@pytest.mark.matrix
def test_the_time_of_a_short_sweep_that_has_ended_ends_with_it(bench: Bench) -> None:
    recorded = session_of(script(make_plan(("standard",), LENGTHS[:1])))
    recorded.ended_ns = recorded.t0_ns + 400_000_000
    bench.controller._shown._show(recorded, "saved", None)
    bench.page.show_view("telemetry")
    bench.drawn()
    assert list(bench.page.bottom.strip.first.shown.view) == pytest.approx([0.0, 0.4])


@pytest.mark.matrix
def test_after_the_last_span_of_a_sweep_that_has_ended_no_n_is_named(saved: Bench) -> None:
    spans = saved.page.bottom.strip.first.shown.spans
    *_, (_start, end, _seqlen) = seqlen_stretches(spans, spans[-1].end_s + 100.0)  # type: ignore[operator]
    assert end == max(span.end_s for span in spans if span.end_s is not None)
    going_on = [*spans[:-1], dataclasses.replace(spans[-1], end_s=None)]
    assert seqlen_stretches(going_on, 1e3)[-1][1] == 1e3


@pytest.mark.matrix
def test_the_legend_names_the_kernels_and_elides_with_a_count(saved: Bench) -> None:
    legend = saved.page.bottom.legend
    assert legend.kernels == ("standard", "flash2")
    assert legend.toolTip().endswith("standard, flash2")
    legend.show_kernels([f"kernel-{number}" for number in range(40)])
    legend.apply_theme(LIGHT)
    assert not legend.grab().isNull()


def test_a_picture_of_the_telemetry_has_the_lanes_that_exist_and_the_table_every_column(
    saved: Bench, tmp_path: Path
) -> None:
    export = saved.page.bottom.make_export()
    assert len(export.plots) == len(export.labels) == 1 + sum(map(saved.page.bottom.strip.offered, LANES))
    assert len(export.columns) == 1 + len(FIELDS)
    assert {len(row) for row in export.rows} == {1 + len(FIELDS)}


@pytest.mark.matrix
def test_the_cpu_names_in_one_line_what_it_cannot_tell(bench: Bench) -> None:
    events = script(make_plan(("standard",), LENGTHS, "cpu"), telemetry=CPU_TELEMETRY)
    bench.page.show_session(session_of(events))
    bench.drawn()
    strip = bench.page.bottom.strip
    assert strip.rows["utilisation"]._name.text() == "busy, %"
    for field, reason in CPU_TELEMETRY.missing.items():
        if field in strip.lanes:
            assert not strip.rows[field].isVisible()
            assert reason in " ".join(strip.first.absent.toolTip().split())


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(-50, 150)), max_size=20), st.floats(2, 1e5))
def test_what_is_on_show_never_leaves_the_time_there_is(steps: list[tuple[float, float]], end: float) -> None:
    view, whole = TimeView(), (0.0, end)
    for factor, place in steps:
        view.zoom(factor, place, view.of(whole))
        view.pan(place, view.of(whole))
        low, high = view.of(whole)
        assert 0.0 <= low < high <= end * (1 + 1e-9)
        assert high - low >= NEAREST_S * 0.999
    view.fit()
    assert view.of(whole) == whole


def test_a_span_well_in_view_moves_nothing_and_a_small_one_gets_a_third() -> None:
    view = TimeView()
    assert not view.look_at((2.0, 4.0), (0.0, 10.0))
    assert view.look_at((50.0, 50.3), (0.0, 100.0))
    assert view.of((0.0, 100.0)) == pytest.approx((49.7, 50.6))


def test_the_ring_tells_the_value_that_held_at_a_moment_and_what_it_has_seen() -> None:
    ring = ReadingRing(8)
    ring.clear(0)
    ring.extend([Reading(t_ns=k * 10**9, power_w=10.0 * k) for k in range(12)])
    assert ring.at("power_w", 6.5) == 60.0
    assert ring.at("power_w", 3.0) is None
    assert ring.at("sm_share", 6.5) is None
    assert ring.seen == {"power_w"}
    ring.clear()
    assert ring.seen == set()


def test_what_ran_is_found_by_the_moment() -> None:
    spans = spans_of(session_of(script(make_plan(("standard",), LENGTHS))))
    first = spans[0]
    assert first.end_s is not None
    assert running_at(spans, first.start_s) is first
    assert running_at(spans, -1.0) is None
    assert running_at(spans, 1e9) is None


@given(
    st.lists(st.tuples(st.floats(0.001, 5), st.floats(0, 2)), min_size=1, max_size=60),
    st.floats(0.01, 10),
    st.tuples(st.floats(0, 100), st.floats(0.1, 100)),
)
def test_spans_too_fine_to_be_told_apart_are_drawn_as_one_and_none_is_left_out(
    lengths: list[tuple[float, float]], least_s: float, where: tuple[float, float]
) -> None:
    spans, at_s = [], 0.0
    for lasts, pause in lengths:
        spans.append(Span(("k",), 256, at_s, at_s + lasts))
        at_s += lasts + pause
    view = where[0], where[0] + where[1]
    drawn = coarse(spans, view, least_s)
    assert len(drawn) <= 2 * where[1] / least_s + 3
    for span in spans:
        if (span.end_s or 0) >= view[0] and span.start_s <= view[1]:
            assert any(one.start_s <= span.start_s and (span.end_s or 0) <= (one.end_s or 0) for one in drawn)
    assert coarse(spans, (0.0, at_s), 0.0) == spans


def test_an_open_span_is_drawn_open_and_by_itself() -> None:
    spans = [Span(("a",), 256, 0.0, 0.001), Span(("a",), 512, 0.001, 0.002), Span(("b",), 512, 0.002, None)]
    assert coarse(spans, (0.0, 60.0), 1.0) == [Span(("a",), 256, 0.0, 0.002), spans[2]]


def test_runs_back_to_back_have_spans_of_their_own_after_the_samples() -> None:
    plan = make_plan(("standard", "flash2"), (512,))
    recorded = session_of(script(plan))
    sustained = msgspec.structs.replace(plan, protocol=msgspec.structs.replace(plan.protocol, sustain_s=1.0))
    recorded.plan = sustained
    first, second = recorded.points
    first.started_ns = second.started_ns = recorded.t0_ns
    first.sampling_ns = second.sampling_ns = recorded.t0_ns + 10**9
    first.ended_ns, second.ended_ns = recorded.t0_ns + 4 * 10**9, recorded.t0_ns + 5 * 10**9
    assert [(span.kernels, span.start_s, span.end_s) for span in spans_of(recorded)][-3:] == [
        (("standard", "flash2"), 1.0, 3.0),
        (("standard",), 3.0, 4.0),
        (("flash2",), 4.0, 5.0),
    ]


@pytest.mark.matrix
def test_a_sweep_that_ended_without_a_reading_waits_for_none(bench: Bench) -> None:
    events = script(make_plan(("flash2",), (512,)))
    bench.sweep([event for event in events if not isinstance(event, Readings)])
    bench.page.show_view("telemetry")
    bench.drawn()
    strip = bench.page.bottom.strip
    assert strip.rows[LANES[0].field].lane._note.toPlainText() == UNREAD


@pytest.mark.matrix
def test_while_something_runs_two_lanes_are_whole_under_the_curves_of_a_small_window(
    rig: Rig, qtbot: QtBot
) -> None:
    window = rig.window()
    window.resize(1280, 720)
    rig.open(BUNDLED / "h200-peers.flashscope")
    window.show_page("profile")
    rig.controller.replay(1.0)
    rig.pass_time(2.0)
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    qtbot.waitUntil(lambda: page.bottom.isVisible() and page._turns.idle)
    grab_whole(window)
    seen = page.bottom.strip._scrolling.viewport()
    shown = [row for row in page.bottom.strip.rows.values() if row.isVisible()]
    ends = [row.mapTo(seen, row.rect().bottomLeft()).y() for row in shown[:2]]
    assert ends[1] < seen.height(), "the name of the second lane is cut"
