"""A timer that beats on the window's thread: the longest time between two beats is the longest block."""

import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before Qt is imported

from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.app.widgets.paint_turns import PaintTurns

PATIENCE_MS = 120_000


class Block(NamedTuple):
    """The longest of a run, in ms: of the wall, and of the thread's own processor time."""

    wall: float
    processor: float


class Heart:
    """Beats on the window's thread while it is let to."""

    def __init__(self) -> None:
        self.longest = Block(0.0, 0.0)
        self.beats = 0
        self._timer = QTimer(interval=1)
        self._timer.timeout.connect(self._beat)

    @contextmanager
    def beating(self) -> Iterator[None]:
        gc.collect()
        gc.freeze()
        self._last = now()
        self._timer.start()
        yield
        self._beat()
        self._timer.stop()
        gc.unfreeze()

    def _beat(self) -> None:
        this, last = now(), self._last
        self.beats, self._last = self.beats + 1, this
        self.longest = Block(*(max(old, b - a) for old, a, b in zip(self.longest, last, this, strict=True)))


def now() -> Block:
    """This moment, in ms of the wall and of the thread's processor time."""
    return Block(time.perf_counter() * 1e3, time.thread_time() * 1e3)


def shown(qtbot: QtBot, controller: Controller) -> MainWindow:
    """A window over the controller that has found its machine, and made its pages."""
    window = build_window(controller, DARK)
    qtbot.addWidget(window, before_close_func=lambda _: window.close_unasked())
    window.resize(1280, 800)
    with qtbot.waitSignal(controller.machine_found, timeout=PATIENCE_MS):
        window.show()
    qtbot.wait(300)  # it warms up
    qtbot.waitUntil(lambda: window.ahead.idle and not window.ahead.busy, timeout=PATIENCE_MS)
    return window


def settle(qtbot: QtBot, window: MainWindow) -> None:
    """Return once every part that is painted in turns has been painted."""
    turns = window.findChildren(PaintTurns)
    qtbot.waitUntil(lambda: all(one.idle for one in turns), timeout=PATIENCE_MS)
    qtbot.wait(100)


def line(what: str, *blocks: Block) -> None:
    """One line of the table: what was done, and the longest block of each run."""
    runs = ", ".join(f"{block.wall:.0f} ({block.processor:.0f})" for block in blocks)
    print(f"{what:<48} {runs}")  # noqa: T201 - the table
