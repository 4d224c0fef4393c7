"""Random keys, clicks and commands, with sweeps, traces and recordings: nothing is raised, nothing hangs."""

import random
import sys
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import sessions_dir
from tests.app.shell.played import monkey, sandbox
from tests.matrix import on_demand

ACTIONS = 400
ROUNDS = 25  # together 10,000


@on_demand("turn", range(1, ROUNDS + 1), ())
def test_nothing_that_a_monkey_does_with_a_window_raises_or_hangs(
    turn: int, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[str] = []
    dice = random.Random(turn)  # noqa: S311 - a game
    sandbox.closed_in(monkeypatch, dice, tmp_path)
    window = build_window(Controller(LocalEngine, sessions_dir()), DARK)
    qtbot.addWidget(window, before_close_func=MainWindow.close_unasked)
    with qtbot.waitSignal(window.controller.machine_found):
        window.show()
    monkeypatch.setattr(sys, "excepthook", partial(monkey.tell, raised))
    player = monkey.Monkey(window, dice, sandbox.files_in(tmp_path))
    longest = monkey.play(player, ACTIONS)
    qtbot.waitUntil(lambda: not window.controller.measuring)
    assert not raised, raised[0]
    assert max(longest.values()) < monkey.HANG_S
    assert player.seen["sessions"]
