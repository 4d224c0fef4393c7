"""The telemetry of a session that several devices measured: lanes of its own for each, on one time axis."""

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.app.figures.lanes import LANES
from flashscope.app.pages.profile.telemetry.device_lanes import DeviceLanes
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.wire.events import Event, PlanStarted, PointStarted, Readings, TelemetryStarted
from tests.app.bench import Bench
from tests.profiles.sessions import MACHINE, TELEMETRY, make_plan, script, session_of

PLAN = make_plan(("standard", "flash2"), (512, 1024, 2048, 4096))


def machines(count: int) -> tuple[Machine, ...]:
    """Machines of different hosts."""
    return tuple(replace(MACHINE, host=f"host-{number}") for number in range(count))


def spread(count: int) -> list[Event]:
    """A sweep whose problems so many devices take in turns; each has power and its limit by its number."""
    events: list[Event] = []
    device = 0
    for event in script(PLAN):
        match event:
            case PlanStarted():
                first, *others = machines(count)
                events.append(replace(event, machine=first, others=tuple(others)))
            case TelemetryStarted():
                limits = [replace(TELEMETRY, power_limit_w=700.0 - number) for number in range(count)]
                events.append(replace(limits[0], others=tuple(limits[1:])))
            case PointStarted(index=index):
                device = index // len(PLAN.kernels) % count
                events.append(replace(event, device=device))
            case Readings(readings=readings):
                events += [
                    replace(
                        event,
                        device=each,
                        readings=tuple(replace(one, power_w=100.0 + each) for one in readings),
                    )
                    for each in range(count)
                ]
            case _:
                events.append(event)
    return events


def show(bench: Bench, count: int) -> list[DeviceLanes]:
    """Open a session of so many devices; the lanes of each."""
    bench.controller._shown._show(session_of(spread(count)), "saved", None)
    bench.page.show_view("telemetry")
    bench.drawn()
    return bench.page.bottom.strip._shown


def visible(lanes: DeviceLanes) -> set[str]:
    return {field for field, row in lanes.rows.items() if row.isVisible()}


def names(shown: Sequence[DeviceLanes]) -> list[str]:
    return [one.head.name for one in shown]


def test_each_device_has_its_readings_and_what_it_ran_in_lanes_that_bear_its_name(bench: Bench) -> None:
    shown = show(bench, 2)
    assert [name.split(" · ")[:2] for name in names(shown)] == [["0", "host-0"], ["1", "host-1"]]
    assert all(one.head.upper.text() == one.head.name for one in shown)
    for number, one in enumerate(shown):
        assert np.nanmax(one.lanes["power_w"].curve.getData()[1]) == 100 + number
        assert {span.seqlen for span in one.shown.drawn} == {512 << number, 2048 << number}
    assert shown[0].shown.view == shown[1].shown.view
    assert limits(shown) == [700, 699]


def limits(shown: Sequence[DeviceLanes]) -> list[float]:
    """The power limit that each device's lane draws."""
    return [one.lanes["power_w"]._capacity.value() for one in shown]


@pytest.mark.matrix  # it takes a second
def test_lanes_of_every_device_grow_while_they_measure_each_with_its_own_limit(bench: Bench) -> None:
    bench.sweep(spread(2)[:-1])
    bench.page.show_view("telemetry")
    bench.drawn()
    strip = bench.page.bottom.strip
    shown = strip._shown
    assert [np.nanmax(one.lanes["power_w"].curve.getData()[1]) for one in shown] == [100, 101]
    assert {reading.power_w for reading in bench.controller.live_readings} == {100}
    assert limits(shown) == [700, 699]
    missing = {"sm_clock_mhz": "it does not tell"}
    strip.watch(replace(TELEMETRY, missing=missing, others=(None,)))
    bench.page.show_view("telemetry")
    strip.choose("")
    bench.drawn()
    assert limits(shown) == [700, 700]
    assert [one.absent.isVisible() for one in shown] == [True, False]


@pytest.mark.matrix  # it takes a second
def test_the_pointer_in_one_lane_reads_those_of_all_devices_and_a_chosen_point_is_framed_in_its_own(
    bench: Bench,
) -> None:
    first, second = show(bench, 2)
    span = second.shown.spans[0]
    assert span.end_s is not None
    middle = (span.start_s + span.end_s) / 2
    first.lanes["power_w"].pointed.emit(middle)
    bench.qtbot.waitUntil(lambda: first.head.running.text() != "")
    assert first.head.running.text() == f"{middle:.2f} s · nothing runs"
    assert second.head.running.text() == f"{middle:.2f} s · N = 1k · {span.kernels[0]}"
    bench.page.bottom.strip.show_point(span.points[0])
    assert [one.head.ruler._chosen.isVisible() for one in (first, second)] == [False, True]


@pytest.mark.matrix  # it takes a second
def test_many_devices_show_one_lane_each_until_another_is_chosen(bench: Bench) -> None:
    bottom = bench.page.bottom
    shown = show(bench, 4)
    assert [visible(one) for one in shown] == [{"memory_used"}] * 4
    bottom.lane_box.setCurrentIndex(bottom.lane_box.findData("power_w"))
    bottom.lane_box.activated.emit(bottom.lane_box.currentIndex())
    bench.drawn()
    assert [visible(one) for one in shown] == [{"power_w"}] * 4
    export = bottom.make_export()
    assert len(export.plots) == 8
    assert export.columns[-1] == "device"
    assert {row[-1] for row in export.rows} == set(range(4))


@pytest.mark.matrix
def test_a_session_of_one_device_after_one_of_several_has_the_ruler_over_what_scrolls(bench: Bench) -> None:
    show(bench, 3)
    strip = bench.page.bottom.strip
    (alone,) = show(bench, 1)
    assert names([alone]) == [""]
    assert strip.others.isHidden()
    assert not bench.page.bottom.lane_box.isVisible()
    assert not strip._scrolling.isAncestorOf(alone.head)
    assert visible(alone) == {lane.field for lane in LANES if strip.offered(lane)}
