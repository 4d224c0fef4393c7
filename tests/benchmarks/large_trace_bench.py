"""How long a trace of nearly 64 MiB holds the window up: pytest -m benchmark -s large_trace_bench.py.

Prints the longest block of the event loop while the file opens and the Stepper shows its trace. Gates on
nothing.
"""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.profiles.store import Recorder
from flashscope.profiles.wire.events import PlanFinished, TraceReady
from tests.app.fakes import FakeEngine, sweep
from tests.app.stepper.builders import random_trace
from tests.benchmarks.heart import PATIENCE_MS, Heart, line, settle, shown

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]


def test_a_session_with_a_large_trace_is_opened(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    trace = random_trace(2176, block=64, head_dim=128)
    events = sweep()
    place = next(n for n, event in enumerate(events) if isinstance(event, PlanFinished))
    path = tmp_path / "large.flashscope"
    recorder = Recorder(path)
    for event in (*events[:place], TraceReady(trace=trace), *events[place:]):
        recorder.record(event)
    recorder.close()
    window = shown(qtbot, Controller(FakeEngine, tmp_path / "home"))
    window.show_page("stepper")
    settle(qtbot, window)
    heart = Heart()
    with heart.beating():
        with qtbot.waitSignal(window.controller.session_changed, timeout=PATIENCE_MS):
            window.open_path(path)
        settle(qtbot, window)
    line(f"a session of {path.stat().st_size / 2**20:.0f} MiB is opened", heart.longest)
    page = window.pages["stepper"]
    heart = Heart()
    with heart.beating():
        page.show_trace(trace)  # type: ignore[attr-defined]  # it is the Stepper
        settle(qtbot, window)
    line("its trace is shown", heart.longest)
    window.close_unasked()
