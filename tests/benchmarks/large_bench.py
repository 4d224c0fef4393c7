"""What is large, in the window: pytest -m benchmark -s large_bench.py. Prints, and gates on nothing.

A million readings opened, and saved and exported from there, the widest block mask typed into the form, a
file that another process holds.
"""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.paint_turns import waits
from flashscope.profiles.store import Recorder
from flashscope.profiles.wire.events import Event, Reading, Readings
from tests.app.fakes import SECOND, FakeEngine, sweep
from tests.benchmarks.heart import PATIENCE_MS, Heart, line, now, settle, shown

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]

READINGS, BATCH = 1_000_000, 10_000
WIDEST = "local:1,global:1,random:0.1"


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))

    def make(sink: Callable[[Event], None]) -> FakeEngine:
        return FakeEngine(sink)

    return shown(qtbot, Controller(make, tmp_path))


def page_of(window: MainWindow) -> ProfilePage:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    return page


def recorded(path: Path, readings: int, told: Sequence[Event] = ()) -> Path:
    """A session with so many readings, ten a second, and these events, else those of a short sweep."""
    recorder = Recorder(path)
    *events, ending = told or sweep()
    for event in events:
        recorder.record(event)
    for first in range(0, readings, BATCH):
        recorder.record(Readings(readings=tuple(reading(first + k) for k in range(BATCH))))
    recorder.record(ending)
    recorder.close()
    return path


def reading(number: int) -> Reading:
    return Reading(
        t_ns=number * SECOND // 100_000,
        memory_used=(number % 1000) << 20,
        utilisation=float(number % 100),
        power_w=300.0 + number % 7,
        temperature_c=41.0,
        sm_clock_mhz=1980.0,
        throttle=(),
        sm_share=number % 11 / 10,
        tensor_share=number % 13 / 12,
        dram_share=number % 17 / 16,
    )


def test_opening_a_million_readings(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = recorded(tmp_path / "million.flashscope", READINGS)
    page, heart = page_of(window), Heart()
    before = psutil.Process().memory_info().rss
    with heart.beating():
        begun = now()
        with qtbot.waitSignal(window.controller.session_changed, timeout=PATIENCE_MS):
            window.open_path(path)
        qtbot.waitUntil(lambda: not any(map(waits, page.plots.cells)), timeout=PATIENCE_MS)
        first = now()
        qtbot.waitUntil(lambda: len(page.bottom.strip.ring) >= READINGS, timeout=PATIENCE_MS)
        settle(qtbot, window)
        whole = now()
    taken = (psutil.Process().memory_info().rss - before) / 2**20
    line("opening a million readings", heart.longest)
    first_ms, whole_ms = first.wall - begun.wall, whole.wall - begun.wall
    print(f"  first paint {first_ms:.0f} ms, whole {whole_ms:.0f} ms, {taken:.0f} MiB")  # noqa: T201 - the table


def test_looking_around_in_a_million_readings(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.open_path(recorded(tmp_path / "million.flashscope", READINGS))
    strip = page_of(window).bottom.strip
    qtbot.waitUntil(lambda: len(strip.ring) >= READINGS, timeout=PATIENCE_MS)
    settle(qtbot, window)
    heart = Heart()
    with heart.beating():
        for step in range(20):
            lane = strip.lanes["power_w"]
            lane.box.zoomed.emit(0.9 if step < 10 else 1 / 0.9, strip.first.shown.view[1] / 2)
            lane.pointed.emit(strip.first.shown.view[1] / 3)
            qtbot.wait(100)
        settle(qtbot, window)
    line("zooming and pointing among a million readings", heart.longest)


@pytest.mark.parametrize(("key", "name"), [("save-copy", "copy.flashscope"), ("export", "table.csv")])
def test_writing_a_million_readings_elsewhere(
    *, window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, name: str
) -> None:
    window.open_path(recorded(tmp_path / "million.flashscope", READINGS))
    ring = page_of(window).bottom.strip.ring
    qtbot.waitUntil(lambda: len(ring) >= READINGS, timeout=PATIENCE_MS)
    settle(qtbot, window)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / name), ""))
    action, heart = window.registry.find(key), Heart()
    assert action is not None
    with heart.beating():
        begun = now()
        action.trigger()
        qtbot.waitUntil(lambda: window.errors.text.endswith(f" {name}."), timeout=PATIENCE_MS)
        ended = now()
    line(f"{key} of a million readings", heart.longest)
    print(f"  written after {ended.wall - begun.wall:.0f} ms")  # noqa: T201 - the table


def test_typing_the_widest_block_mask(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("profile")
    form = page_of(window).form
    form.masking.kind.setCurrentText("blocks")
    form.masking.block_size.setCurrentText("64")
    form.chips.set_seqlens((262_144,))
    settle(qtbot, window)
    heart = Heart()
    with heart.beating():
        for k in range(len(WIDEST)):
            form.masking.pattern.setEditText(WIDEST[: k + 1])
            qtbot.wait(20)
        settle(qtbot, window)
    line(f"typing {WIDEST} at N = 262144", heart.longest)


def test_opening_a_file_that_another_process_holds(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = recorded(tmp_path / "held.flashscope", BATCH)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    heart = Heart()
    with heart.beating(), qtbot.waitSignal(window.controller.not_opened, timeout=PATIENCE_MS):
        window.open_path(path)
    holder.close()
    line("opening a file that another process holds", heart.longest)
