"""How fast the plots follow wheel, drag and crosshair: pytest -m benchmark -s moving_bench.py.

Prints frames a second, of the wall and of the thread's own processor time, over the bundled recording with
the most kernels; gates on nothing. No GPU is needed.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.controller import Controller
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.profile.plots_view import PlotsView
from tests.app.fakes import FakeEngine
from tests.app.mouse import drag, wheel
from tests.benchmarks.heart import PATIENCE_MS, now, settle, shown

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]

FRAMES = 60


@pytest.fixture
def plots(qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlotsView:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    window = shown(qtbot, Controller(FakeEngine, tmp_path))
    window.resize(1600, 1000)
    with qtbot.waitSignal(window.controller.session_changed, timeout=PATIENCE_MS):
        window.open_path(BUNDLED / "h200-peers.flashscope")
    window.show_page("profile")
    settle(qtbot, window)
    page = window.page
    assert isinstance(page, ProfilePage)
    return page.plots


def test_moving_in_the_four_plots(plots: PlotsView) -> None:
    plot = plots.cells[1].plot
    told("\nthe wheel, to and fro", lambda k: wheel(plot, 1 if k % 8 < 4 else -1))
    wheel(plot, 4)
    told("a drag in eight steps, to and fro", lambda k: drag(plot, QPoint(40 if k % 2 else -40, 0)))
    told("the crosshair, to and fro", lambda k: plots.step_cursor(1 if k % 8 < 4 else -1))


def told(what: str, move: Callable[[int], object]) -> None:
    """Move so often, each time until all is painted, and print how fast that was."""
    begun = now()
    for frame in range(FRAMES):
        move(frame)
        QApplication.processEvents()
    wall, processor = (FRAMES / (b - a) * 1e3 for a, b in zip(begun, now(), strict=True))
    print(f"{what:<40} {wall:.0f} frames/s, {processor:.0f} a processor second")  # noqa: T201 - the table
