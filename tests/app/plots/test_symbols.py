"""Pictures of symbols: pyqtgraph keeps one for each look that it has drawn, so there may be few looks."""

from pathlib import Path
from shutil import copy

import pyqtgraph as pg
import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.pages.compare import ComparePage
from flashscope.app.plots.style import Plot
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.paint_turns import PaintTurns
from tests.app.rig import Rig


@pytest.fixture
def window(rig: Rig, qtbot: QtBot, tmp_path: Path) -> MainWindow:
    """One with a recording on every page, compared with a copy of it."""
    window, first = rig.window(), bundled_sessions()[-1]
    rig.open(first)
    compare = window.pages["compare"]
    assert isinstance(compare, ComparePage)
    window.show_page("compare")
    with qtbot.waitSignal(compare.lineup.found, timeout=30_000):
        compare.choose([first, Path(copy(first, tmp_path / "copy.flashscope"))])
    for key in window.pages:
        window.show_page(key)
        draw(window, qtbot)
    return window


def draw(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until every part is drawn that is drawn in turns."""
    qtbot.waitUntil(lambda: all(one.idle for one in window.findChildren(PaintTurns)), timeout=30_000)
    window.grab()


def pictures(window: MainWindow) -> dict[str, int]:
    """How many are kept in each plot that has symbols."""
    kept = {}
    for number, plot in enumerate(window.findChildren(Plot)):
        dots = [item for item in plot.scene().items() if isinstance(item, pg.ScatterPlotItem)]
        if count := sum(len(one.fragmentAtlas) for one in dots):
            kept[f"{number} {plot.accessibleName()}"] = count
    return kept


def switch(window: MainWindow, turn: int) -> None:
    window.appearance.use((LIGHT, DARK)[turn % 2])


def zoom(window: MainWindow, turn: int) -> None:
    window.appearance.zoom((125, 100)[turn % 2])
    window.appearance.finish()


@pytest.mark.matrix  # it takes seconds
def test_switches_of_theme_and_zoom_leave_no_pictures_of_symbols_behind(
    window: MainWindow, qtbot: QtBot
) -> None:
    for act in (switch, zoom):
        kept = []
        for turns in (2, 20):
            for turn in range(turns):
                act(window, turn)
            draw(window, qtbot)
            kept.append(pictures(window))
        assert kept[0] == kept[1]
        assert len(kept[0]) > 5
