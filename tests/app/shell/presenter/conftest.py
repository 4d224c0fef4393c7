"""A window on a stage."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.ladder import LadderPage
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import Story, read_story
from flashscope.profiles.wire.events import TraceReady
from tests.app.fakes import sweep
from tests.app.rig import Rig, Save
from tests.app.stepper.builders import build_trace

Key = Qt.Key


def press(window: MainWindow, key: Qt.Key) -> None:
    if not window.isActiveWindow():  # without a screen it can lose the keyboard to what has just gone
        window.activateWindow()
        assert QTest.qWaitForWindowActive(window)
    QTest.keyClick(window, key)


def answer(rig: Rig) -> None:
    """Let the engine answer the traces that it was asked for, until nobody waits for one."""
    while rig.engine.traces:
        asked, rig.engine.traces = rig.engine.traces, []
        rig.say([TraceReady(trace=build_trace(request)) for request in asked])


def settle(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    """Wait until the stop is on show."""
    stage = window.stage
    stop = stage.stops[stage.at]
    wanted = stage.story.session_of(stop) if stage.story else None
    qtbot.waitUntil(lambda: stage.stop is stop and (wanted is None or rig.controller.path == wanted))
    answer(rig)
    if isinstance(window.page, LadderPage):
        window.page.chores.wait()
        qtbot.waitUntil(lambda: not window.page.staging.scene.waiting)
    if isinstance(window.page, TimelinePage):
        qtbot.waitUntil(lambda: window.staging.settled)  # a stage waits for that, but not for ever
    window.appearance.finish()
    qtbot.waitUntil(lambda: not stage.loading.on)


@pytest.fixture
def story(tmp_path: Path, save: Save) -> Story:
    """Three stops of one session."""
    path = save(sweep(), "swept")
    named = path.with_name("three.toml")
    named.write_text(
        'title = "Three"\n'
        + "".join(
            f'[[stop]]\npage = "profile"\ntitle = "{title}"\nsession = "{path.name}"\nquantity = "{title}"\n'
            f'kernels = ["standard", "flash2"]\nseqlen = 512\nnotes = "About {title}."\n'
            f'sentence = "flash2: {{runtime of flash2}}, {{runtime of flash2 against standard}}, at {{n}}"\n'
            for title in ("footprint", "runtime", "throughput")
        )
    )
    return read_story(named)


@pytest.fixture
def staged(window: MainWindow, rig: Rig, qtbot: QtBot, story: Story) -> MainWindow:
    """A window that presents these."""
    window.activateWindow()
    window.stage.enter(story)
    settle(window, rig, qtbot)
    qtbot.waitUntil(lambda: not (window.stage.venue.turning or window.stage.venue.filling))
    return window


def profile(window: MainWindow) -> ProfilePage:
    page = window.page
    assert isinstance(page, ProfilePage)
    return page


def shown_plots(window: MainWindow) -> list[str]:
    return [card.quantity.key for card in profile(window).plots.cells if card.isVisible()]
