import time

import pytest
from PySide6.QtWidgets import QApplication

from app.plots.stepper.panel import Panel
from tests.app.stepper.builders import random_trace
from tests.app.stepper.conftest import Bench

SNAPSHOTS = 4096


@pytest.mark.benchmark
def test_scrubbing_4096_snapshots_prints_frames_a_second(bench: Bench, qapp: QApplication) -> None:
    page = bench.show()
    page.show_trace(random_trace(464, block=16, head_dim=32))
    page.resize(1520, 920)
    qapp.processEvents()
    last = page.transport.scrubber.maximum()
    assert last + 1 >= SNAPSHOTS
    places = range(0, last, 16)
    started, cpu_started = time.perf_counter(), time.process_time()
    for place in places:
        page.seek(place)
        qapp.processEvents()
    elapsed, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    rate, cpu_rate = len(places) / elapsed, len(places) / cpu
    print(f"\n{last + 1} snapshots, 1520x920: {rate:.0f} frames/s, {cpu_rate:.0f} a CPU second")  # noqa: T201


def test_a_step_paints_each_panel_at_most_once(
    bench: Bench, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = bench.show("random")
    page.seek(50)
    qapp.processEvents()
    painted: list[str] = []
    paint = Panel.paintEvent

    def counting(panel: Panel, event: object) -> None:
        painted.append(panel.accessibleName())
        paint(panel, event)  # type: ignore[arg-type]  # Qt hands it on

    monkeypatch.setattr(Panel, "paintEvent", counting)
    page.seek(53)
    page.seek(54)
    qapp.processEvents()
    assert len(painted) <= len(page.board.panels) + 1
