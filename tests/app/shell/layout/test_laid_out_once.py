"""A view that comes to the front is laid out once, however much beside it comes and goes with it."""

from collections import Counter

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED, bundled_sessions
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from tests.app.rig import Rig


@pytest.mark.matrix
def test_plots_take_their_size_once_when_a_recording_is_opened_from_another_place(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    first, second = bundled_sessions()[:2]
    window.resize(1280, 800)
    rig.open(first)
    window.show_page("start")
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    taken: Counter[int] = Counter()
    for card in page.plots.cards.values():
        card.plot.getViewBox().sigResized.connect(lambda _box, card=card: taken.update([id(card)]))
    counted: list[int] = []
    rig.controller.session_changed.connect(lambda _session: counted.append(max(taken.values(), default=0)))
    rig.opening(lambda: window.open_path(second))
    assert counted[0] <= 1
    qtbot.waitUntil(page.plots.isVisible)


@pytest.mark.matrix
def test_plots_take_few_sizes_when_the_telemetry_comes_under_them(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.resize(1280, 800)
    rig.open(BUNDLED / "h200-peers.flashscope")
    window.show()
    window.show_page("profile")
    page = window.page
    assert isinstance(page, ProfilePage)
    qtbot.waitUntil(lambda: page._turns.idle)
    assert len(page.plots.kernels) > 10
    taken: Counter[int] = Counter()
    for card in page.plots.cells:
        card.plot.getViewBox().sigResized.connect(lambda _box, card=card: taken.update([id(card)]))
    rig.controller.replay(1.0)
    qtbot.waitUntil(lambda: page.bottom.isVisible() and page._turns.idle)
    assert max(taken.values()) <= 4
