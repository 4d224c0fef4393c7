"""The event loop stays free while a sweep is watched."""

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.controller import Controller
from app.main_window import build_window
from app.pages.profile import ProfilePage
from app.theme import DARK
from kernels.registry import LADDER
from profiles.events import PointProgress, Reading, Readings
from profiles.local_engine import LocalEngine
from tests.app.profile.builders import GIB, T0, make_controller, make_plan, script
from tests.app.profile.conftest import Bench

LONGEST_GAP_S = 0.050
BEAT_MS = 5


class Heart:
    """A timer on the window's thread that notes how long the loop was away.

    `busy` counts the thread's own processor time: on a machine that others load too, it alone tells what this
    program did. `gaps` is wall time, which also holds waiting.
    """

    def __init__(self) -> None:
        self.gaps: list[float] = []
        self.busy: list[float] = []
        self._last = (time.perf_counter(), time.thread_time())
        self._timer = QTimer()
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)

    @contextmanager
    def beating(self) -> Iterator[None]:
        self._last = (time.perf_counter(), time.thread_time())
        self._timer.start()
        yield
        self._timer.stop()

    def summary(self) -> str:
        """How it beat, in ms."""
        worst, longest = max(self.busy) * 1e3, max(self.gaps) * 1e3
        return f"{len(self.gaps)} beats; worst busy {worst:.0f} ms, longest gap {longest:.0f} ms"

    def _beat(self) -> None:
        now = (time.perf_counter(), time.thread_time())
        self.gaps.append(now[0] - self._last[0])
        self.busy.append(now[1] - self._last[1])
        self._last = now


def test_a_flood_of_events_never_blocks_the_event_loop_for_50_ms(bench: Bench) -> None:
    names = tuple(spec.name for spec in LADDER)
    plan = make_plan(names, tuple(256 << k for k in range(8)))
    events = script(plan)
    bench.page.run()
    bench.tell(events[:4])  # the session is there, every curve is made
    flood = threading.Thread(target=_flood, args=(bench, events[4:]))
    gc.collect()
    gc.freeze()  # what earlier tests left behind is not to be walked through in this one
    heart = Heart()
    with heart.beating():
        flood.start()
        bench.qtbot.waitUntil(lambda: not bench.controller.running, timeout=60_000)
        flood.join()
    gc.unfreeze()
    assert len(heart.gaps) > 50, "the heart hardly beat"
    assert max(heart.busy) <= LONGEST_GAP_S, heart.summary()
    assert median(heart.gaps) <= LONGEST_GAP_S, heart.summary()
    assert len(bench.page.bottom.strip.ring) > 3000


def _flood(bench: Bench, events: list) -> None:  # type: ignore[type-arg]  # any events
    """Far more than an engine says: with every event 150 readings and 40 steps of progress."""
    second = 0.0
    for event in events:
        bench.engine.sink(event)
        for done in range(40):
            bench.engine.sink(
                PointProgress(index=0, phase="measure", done=done, total=40, last_ms=1.0 + done)
            )
        bench.engine.sink(Readings(readings=tuple(_reading(second + k / 1000) for k in range(150))))
        second += 0.15
        time.sleep(0.02)  # the pace of a sweep of short points


def _reading(second: float) -> Reading:
    return Reading(t_ns=T0 + round(second * 1e9), memory_used=GIB, utilisation=50.0, power_w=300.0)


def test_a_real_cpu_sweep_in_the_real_window_never_blocks_it_for_50_ms(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    window = build_window(Controller(LocalEngine, tmp_path), DARK)
    qtbot.addWidget(window)
    window.resize(1280, 720)
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    try:
        with qtbot.waitSignal(window.controller.machine_found, timeout=60_000):
            window.show()
        window.controller.choose_backend("cpu")
        page.form.chips.field.setText("256:1024")
        window.show_page("profile")
        window.top_bar.run.click()
        qtbot.waitUntil(lambda: window.controller.session is not None, timeout=60_000)
        heart = Heart()
        with heart.beating():
            qtbot.waitUntil(lambda: not window.controller.running, timeout=120_000)
        session = window.controller.session
        assert session is not None
        assert [state.status for state in session.points] == ["done"] * 3 * len(page.form.sweep().kernels)
        assert max(heart.busy) <= LONGEST_GAP_S, heart.summary()
        assert median(heart.gaps) <= LONGEST_GAP_S, heart.summary()
    finally:
        window.close_unasked()


def test_run_is_disabled_with_the_reason_while_the_form_cannot_run(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    window = build_window(make_controller(tmp_path)[0], DARK)
    qtbot.addWidget(window)
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    page.form.chips.field.setText("")
    assert not window.top_bar.run.isEnabled()
    assert "sequence length" in window.top_bar.run.toolTip()
    page.form.chips.field.setText("256")
    assert window.top_bar.run.isEnabled()
    window.close_unasked()


@pytest.mark.benchmark
def test_the_cost_of_one_refresh_is_printed(bench: Bench) -> None:
    bench.sweep(script(make_plan(tuple(spec.name for spec in LADDER), tuple(256 << k for k in range(8)))))
    begin = time.perf_counter()
    for _ in range(20):
        bench.page.refresh()
        bench.page.bottom.strip.draw()
    print(f"refresh: {(time.perf_counter() - begin) / 20 * 1e3:.1f} ms")  # noqa: T201 - a benchmark prints
