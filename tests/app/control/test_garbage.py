"""Garbage of any thread goes in the window's thread: objects of Qt's may be in it."""

import gc
import threading
import time
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from flashscope.app.control.chores import Chores
from flashscope.app.control.garbage import OLDEST, Garbage
from tests.app.rig import Rig

MANY = 20 * gc.get_threshold()[0]


class Ring:
    """It holds itself, and so goes only when garbage is collected."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collecting() -> Iterator[None]:
    """Python collects by itself, as it does where there is no window."""
    gc.enable()
    yield
    gc.disable()


def make_rings(gone_in: list[int]) -> None:
    for _ in range(MANY):
        weakref.finalize(Ring(), lambda: gone_in.append(threading.get_ident())).atexit = False


def test_what_a_thread_of_a_window_makes_is_collected_in_that_of_the_window(
    collecting: None, rig: Rig, qtbot: QtBot
) -> None:
    window = rig.window()
    chores, gone_in = Chores(window), list[int]()
    chores.do(lambda: make_rings(gone_in))
    chores.wait()
    assert not gone_in
    qtbot.waitUntil(lambda: len(gone_in) == MANY)
    assert set(gone_in) == {threading.get_ident()}


def test_a_timer_that_nobody_holds_goes_while_a_thread_works(
    collecting: None, rig: Rig, qtbot: QtBot
) -> None:
    """Qt ends the process where a thread deletes it."""
    window = rig.window()
    timer = QTimer(interval=1)
    timer.itself = timer  # type: ignore[attr-defined]
    timer.start()
    gone = weakref.ref(timer)
    del timer
    chores, gone_in = Chores(window), list[int]()
    chores.do(lambda: make_rings(gone_in))
    chores.wait()
    qtbot.waitUntil(lambda: gone() is None)


def test_all_is_gone_through_once_the_young_have_taken_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now, taken = [0.0], list[int]()

    def collect(generation: int) -> None:
        taken.append(generation)
        now[0] += 0.25 if generation == OLDEST else 0.125

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(gc, "get_count", lambda: (9_999, 99, 99))  # every generation is due
    monkeypatch.setattr(gc, "collect", collect)
    looked = QObject()
    look = Garbage(looked).look
    for _ in range(5):
        look()
    assert taken == [OLDEST, OLDEST - 1, OLDEST - 1, OLDEST, OLDEST - 1]


def test_nothing_is_looked_for_where_little_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "get_count", gc.get_threshold)
    taken = list[int]()
    monkeypatch.setattr(gc, "collect", taken.append)
    looked = QObject()
    Garbage(looked).look()
    assert not taken
