"""How long an audience waits for a stop: pytest -m benchmark -s stage_bench.py.

Takes the stage with each bundled story, walks its stops and leaves, each time until all is drawn that is to
be seen. Prints milliseconds, of the wall and of the thread's own processor time; gates on nothing.
"""

from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import BUNDLED_STORIES, find_story, read_story
from flashscope.profiles.engine.local import LocalEngine
from tests.benchmarks.heart import PATIENCE_MS, Block, line, now, settle, shown

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]

ROUNDS = 3


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    made = shown(qtbot, Controller(LocalEngine, tmp_path))
    qtbot.waitUntil(lambda: not made.pages.missing, timeout=PATIENCE_MS)
    return made


@pytest.mark.parametrize("name", BUNDLED_STORIES)
def test_walking_a_bundled_story(window: MainWindow, qtbot: QtBot, name: str) -> None:
    story, stage = read_story(find_story(name)), window.stage
    entered, left = [], []
    walked: dict[str, list[Block]] = {}

    def until_drawn(act: Callable[[], object]) -> Block:
        begun = now()
        act()
        with qtbot.waitSignal(
            stage.loading.changed, timeout=PATIENCE_MS, check_params_cb=lambda: not stage.loading.on
        ):
            pass
        ended = now()
        return Block(*(b - a for a, b in zip(begun, ended, strict=True)))

    for _ in range(ROUNDS):
        entered.append(until_drawn(lambda: stage.enter(story)))
        qtbot.waitUntil(lambda: not window.appearance.busy, timeout=PATIENCE_MS)  # as while one speaks
        for before, after in zip(story.stops, story.stops[1:], strict=False):
            taken = until_drawn(lambda: stage.step(1))
            walked.setdefault(f"{before.page} to {after.page}", []).append(taken)
        left.append(until_drawn(stage.leave))
        settle(qtbot, window)
    print()  # noqa: T201 - a table
    line(f"{name}: taking the stage", *entered)
    for pair, blocks in walked.items():
        middle = Block(*(median(column) for column in zip(*blocks, strict=True)))
        line(f"{name}: {pair}, median of {len(blocks)}, longest", middle, max(blocks))
    line(f"{name}: leaving it", *left)
