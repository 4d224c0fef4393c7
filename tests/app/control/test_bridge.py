import threading
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from flashscope.app.control.bridge import GIVEN_PER_TICK, TAKEN_PER_TICK, Bridge, without_superseded
from flashscope.profiles.wire.events import Event, LogLine, PointMeasured, PointProgress, PointStarted
from tests.app.fakes import measurement, reading


def progress(index: int, done: int) -> PointProgress:
    return PointProgress(index=index, phase="measure", done=done, total=100)


def lines(count: int) -> list[Event]:
    return [LogLine(source="test", text=str(number)) for number in range(count)]


def listen(bridge: Bridge) -> list[Event]:
    heard: list[Event] = []
    bridge.arrived.connect(heard.extend)
    return heard


def test_events_pushed_from_another_thread_arrive_in_order_on_the_windows(qtbot: QtBot) -> None:
    bridge = Bridge()
    heard, threads = listen(bridge), []
    bridge.arrived.connect(lambda _events: threads.append(threading.current_thread()))
    pusher = threading.Thread(target=lambda: deque(map(bridge.push, lines(2000)), 0))
    pusher.start()
    qtbot.waitUntil(lambda: len(heard) == 2000, timeout=60_000)
    pusher.join()
    assert heard == lines(2000)
    assert set(threads) == {threading.main_thread()}


def test_only_the_newest_progress_of_a_point_is_handed_over() -> None:
    first, second, other = progress(0, 1), progress(0, 2), progress(1, 1)
    assert without_superseded([first, other, second]) == [other, second]


def test_progress_of_a_point_that_has_ended_is_dropped() -> None:
    ended = PointMeasured(index=0, t_ns=1, samples=measurement(1.0, 8).samples)
    assert without_superseded([progress(0, 9), ended]) == [ended]


@given(st.lists(st.one_of(st.builds(progress, st.integers(0, 3), st.integers(0, 9)), st.integers(0, 3))))
def test_coalescing_keeps_everything_but_progress_and_the_order_of_what_it_keeps(
    made: list[PointProgress | int],
) -> None:
    events: list[Event] = [PointStarted(index=e, t_ns=0) if isinstance(e, int) else e for e in made]
    kept = without_superseded(events)
    remaining = iter(events)
    assert all(any(event is candidate for candidate in remaining) for event in kept)
    assert [e for e in kept if isinstance(e, PointStarted)] == [
        e for e in events if isinstance(e, PointStarted)
    ]
    newest = {e.index: e for e in events if isinstance(e, PointProgress)}
    assert {e.index: e for e in kept if isinstance(e, PointProgress)} == newest


@pytest.mark.parametrize("kind", ["progress", "readings"])
def test_of_a_flood_of_100_000_events_a_tick_takes_a_bounded_part(kind: str) -> None:
    bridge = Bridge()
    batches: list[int] = []
    bridge.arrived.connect(lambda events: batches.append(len(events)))
    for number in range(100_000):
        bridge.push(progress(number % 8, number) if kind == "progress" else reading(number))
    for tick in range(1, 21):
        before = len(bridge._waiting)
        bridge._tick()
        assert 0 < before - len(bridge._waiting) <= TAKEN_PER_TICK
        assert len(batches) == tick  # listeners are called once
    assert max(batches) <= GIVEN_PER_TICK
    bridge.stop()


def test_the_timer_ticks_and_each_turn_of_the_loop_hears_one_batch(qtbot: QtBot) -> None:
    bridge = Bridge()
    heard: list[int] = []
    bridge.arrived.connect(lambda events: heard.append(len(events)))
    for line in lines(4 * GIVEN_PER_TICK):
        bridge.push(line)
    for batches in range(1, 4):
        qtbot.waitUntil(lambda batches=batches: len(heard) >= batches, timeout=60_000)  # type: ignore[misc]  # a default binds it
    assert heard[:3] == [GIVEN_PER_TICK] * 3
    bridge.stop()


def test_stopping_hands_over_what_still_waits(qtbot: QtBot) -> None:
    bridge = Bridge()
    heard = listen(bridge)
    for line in lines(3 * GIVEN_PER_TICK):
        bridge.push(line)
    bridge.stop()
    assert len(heard) == 3 * GIVEN_PER_TICK
