"""Pictures of what Inside shows, to be looked at.

    pytest -m benchmark -s inside_pictures_bench.py --basetemp FOLDER -o tmp_path_retention_policy=all

Each part in both themes in a window of 1280 x 720, and as a stage of 1600 x 900 has it. Traces and the launch
in slow motion are taken on the CPU, all else is of bundled recordings. Prints the folder; gates on nothing.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.pages.base import Page
from flashscope.app.pages.roofline import RooflinePage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.shell.full_screen import ANSWER_MS
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stage.story import PageKey, Stop
from flashscope.app.stepper.modes import BACKWARD, BROKEN, LANES, PREDICT
from flashscope.profiles.engine.local import LocalEngine
from tests.benchmarks.heart import PATIENCE_MS, settle, shown

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]

WINDOW, STAGE = (1280, 720), QSize(1600, 900)
LAUNCH_MS = 2500  # after which some tiles are done and some are not


def opened(window: MainWindow, qtbot: QtBot, name: str, key: str) -> Page:
    """A page, with a bundled recording on show."""
    with qtbot.waitSignal(window.controller.session_changed, timeout=PATIENCE_MS):
        window.open_path(BUNDLED / f"{name}.flashscope")
    window.show_page(key)
    settle(qtbot, window)
    return window.pages[key]


def stop(page: PageKey, session: str, **fields: object) -> Callable[[MainWindow, QtBot], None]:
    """What shows of a page what a stop of a story names, with all its controls."""

    def show(window: MainWindow, qtbot: QtBot) -> None:
        found = opened(window, qtbot, session, page)
        found.staging.show_stop(Stop(page=page, **fields))  # type: ignore[arg-type]  # as a story's fields are
        wait_for_all(found)
        found.staging.leave()

    return show


def mode(key: str) -> Callable[[MainWindow, QtBot], None]:
    """What shows a mode of the Stepper in the middle of a trace."""

    def show(window: MainWindow, qtbot: QtBot) -> None:
        window.show_page("stepper")
        page = window.pages["stepper"]
        assert isinstance(page, StepperPage)
        with qtbot.waitSignal(window.controller.trace_ready, timeout=PATIENCE_MS):
            page.show_preset("random")
        page.show_mode(key)
        qtbot.waitUntil(lambda: page.staging.settled, timeout=PATIENCE_MS)
        board = page.backwards.board
        story = board.story if key == BACKWARD else page.story
        assert story is not None
        (board if key == BACKWARD else page).seek(len(story.timeline.steps) // 2)

    return show


def live(window: MainWindow, qtbot: QtBot) -> None:
    """A launch in slow motion, some of whose tiles are done."""
    window.show_page("timeline")
    page = window.pages["timeline"]
    assert isinstance(page, TimelinePage)
    page.bar.live.click()
    qtbot.wait(LAUNCH_MS)


def memories(window: MainWindow, qtbot: QtBot) -> None:
    """Registers, shared memory, L2 and HBM as they were measured."""
    page = opened(window, qtbot, "h100-caches", "roofline")
    assert isinstance(page, RooflinePage)
    page.show_memories(True)


PARTS: Mapping[str, Callable[[MainWindow, QtBot], object]] = {
    "1-trace": stop("stepper", "h200-inside", kernels=("flash3",), seqlen=384, step=10),
    "2-timeline": stop("timeline", "h200-inside", kernels=("flash2", "flash3"), seqlen=1024),
    "3-live": live,
    "4-stalls": stop("ladder", "h100-stalls", mode="stalls", kernels=("flash3-a", "flash3-b")),
    "5-memories": memories,
    "6-lanes": mode(LANES),
    "7-broken": mode(BROKEN),
    "7-predict": mode(PREDICT),
    "8-designer": lambda window, qtbot: opened(window, qtbot, "h200-cuts", "designer"),
    "9-backward": mode(BACKWARD),
}


@pytest.mark.parametrize("part", PARTS)
def test_pictures_of_a_part(
    part: str, qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    window = shown(qtbot, Controller(LocalEngine, tmp_path / "home" / "sessions"))
    window.resize(*WINDOW)
    PARTS[part](window, qtbot)
    for theme in (DARK, LIGHT):
        window.appearance.use(theme)
        window.appearance.finish()
        settle(qtbot, window)
        assert grab_whole(window).save(str(tmp_path / f"{part}-{theme.name}.png"))
    window.trigger("stage")
    qtbot.wait(2 * ANSWER_MS)  # until it fills its screen, which is none and small
    window.stage.venue.stand_as(STAGE)
    for theme in (DARK, LIGHT):
        window.appearance.use(theme)
        window.appearance.finish()
        qtbot.waitUntil(lambda: not window.stage.loading.on, timeout=PATIENCE_MS)
        settle(qtbot, window)
        assert grab_whole(window).save(str(tmp_path / f"{part}-stage-{theme.name}.png"))
    print(tmp_path)  # noqa: T201 - where they are
    window.close_unasked()
