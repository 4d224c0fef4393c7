import gc
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import QObject, QThreadPool, QTimer
from pytestqt.qtbot import QtBot

from flashscope.app.control.bridge import TICK_MS, Bridge
from flashscope.app.control.chores import Chores
from tests.app.bench import end, make_bench
from tests.app.leftovers import finish, going_on, named


def test_a_bridge_that_nobody_stops_is_left_going() -> None:
    bridge = Bridge()
    assert [*map(named, going_on())] == [f"QTimer of Bridge every {TICK_MS} ms"]
    bridge.stop()
    assert not going_on()


def test_a_pool_is_left_going_while_it_works() -> None:
    chores, let = Chores(), Event()
    chores.do(lambda: let.wait(60))
    assert [*map(named, going_on())] == ["QThreadPool of Chores"]
    let.set()
    chores.wait()
    assert not going_on()


def test_a_pool_whose_task_is_about_to_end_is_waited_for_and_one_that_works_on_is_not_forgotten() -> None:
    chores, let = Chores(), Event()
    chores.do(lambda: let.wait(60))
    finish(going_on(), 1)
    assert [*map(named, going_on())] == ["QThreadPool of Chores"]
    let.set()
    finish(going_on(), 60_000)
    assert not going_on()
    chores.wait()


def test_what_ends_by_itself_was_there_before_or_is_gone_is_not() -> None:
    QTimer.singleShot(60_000, QObject(), gc.collect)
    gone = QTimer()
    gone.start(60_000)
    gone.stop()
    assert not going_on()
    before = QTimer()
    before.start(60_000)
    gc.freeze()
    assert not going_on()
    before.stop()
    assert QThreadPool.globalInstance().activeThreadCount() == 0


def test_a_page_goes_once_what_it_talks_to_is_ended(qtbot: QtBot, tmp_path: Path) -> None:
    made = make_bench(qtbot, tmp_path)
    page = weakref.ref(made.page)
    made.page.close()
    made.page.deleteLater()
    end(made.controller)
    del made

    def is_gone() -> None:  # once what it had put off is due
        gc.collect()
        assert page() is None

    qtbot.waitUntil(is_gone)


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns a thousand times as often as they are used to."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 1000)
    yield
    sys.setswitchinterval(usual)


def test_nobody_else_loses_a_tuple_that_is_being_made(hasty: None) -> None:
    chores, ended, lost = Chores(), Event(), list[BaseException]()

    def make() -> None:
        try:
            while not ended.is_set():
                tuple(number for number in range(1000))
        except SystemError as error:
            lost.append(error)

    chores.do(make)
    for _ in range(100):
        going_on()
    ended.set()
    chores.wait()
    assert not lost
