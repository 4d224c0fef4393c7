import itertools
import threading
import time
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.bridge import GIVEN_PER_TICK, Bridge, without_superseded
from profiles.events import Event, LogLine, PointMeasured, PointProgress, PointStarted
from tests.app.fakes import measurement, reading

LONGEST_BLOCK_S = 0.05


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
    qtbot.waitUntil(lambda: len(heard) == 2000, timeout=5000)
    pusher.join()
    assert heard == lines(2000)
    assert set(threads) == {threading.main_thread()}


def test_only_the_newest_progress_of_a_point_is_handed_over() -> None:
    first, second, other = progress(0, 1), progress(0, 2), progress(1, 1)
    assert without_superseded([first, other, second]) == [other, second]


def test_progress_of_a_point_that_has_ended_is_dropped() -> None:
    ended = PointMeasured(index=0, t_ns=1, measurement=measurement(1.0, 8))
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
def test_a_flood_of_100_000_events_never_blocks_the_event_loop(qtbot: QtBot, kind: str) -> None:
    bridge = Bridge()
    batches: list[int] = []
    bridge.arrived.connect(lambda events: batches.append(len(events)))
    for number in range(100_000):
        bridge.push(progress(number % 8, number) if kind == "progress" else reading(number))
    beats = [time.perf_counter()]
    heart = QTimer(interval=5)
    heart.timeout.connect(lambda: beats.append(time.perf_counter()))
    heart.start()
    qtbot.waitUntil(lambda: len(batches) >= 20, timeout=10_000)
    heart.stop()
    pauses = sorted(after - before for before, after in itertools.pairwise(beats))
    assert max(batches) <= GIVEN_PER_TICK
    # Another process may take the processor away once in a while; a slow loop is late again and again.
    assert pauses[int(len(pauses) * 0.98)] < LONGEST_BLOCK_S
    bridge.stop()


def test_stopping_hands_over_what_still_waits(qtbot: QtBot) -> None:
    bridge = Bridge()
    heard = listen(bridge)
    for line in lines(3 * GIVEN_PER_TICK):
        bridge.push(line)
    bridge.stop()
    assert len(heard) == 3 * GIVEN_PER_TICK
