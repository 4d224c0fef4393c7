"""What the program itself does wrong is told once, in words, by the window."""

import signal
import sys
import threading
from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from flashscope.app.control.chores import Chores
from flashscope.app.control.settings import Settings
from flashscope.app.pages.profile.form import masks
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.start_up import run
from flashscope.app.shell.start_up.troubles import Troubles
from flashscope.kernels.workload.block_pattern import BlockPattern
from flashscope.profiles.plan.request import Request
from tests.app.rig import Rig


class Told(list[tuple[str, str]]):
    """Sentences with their details."""

    def take(self, text: str, details: str) -> None:
        self.append((text, details))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def troubles(qapp: QApplication, told: Told) -> Troubles:
    return Troubles(told.take)


def fails(hook: Callable[..., None], error: BaseException) -> None:
    """Raise it, and give it to a hook as Python does."""
    try:
        raise error  # noqa: TRY301 - it needs a frame
    except BaseException as raised:  # noqa: BLE001 - any
        hook(type(raised), raised, raised.__traceback__)


def test_an_error_is_told_when_the_event_loop_has_its_turn(troubles: Troubles, told: Told) -> None:
    fails(troubles.take, ValueError("no such tick"))
    assert told == []
    QCoreApplication.processEvents()
    ((text, details),) = told
    assert "ValueError: no such tick, in fails" in text
    assert "Traceback" not in text
    assert "Traceback" in details


def test_the_same_error_at_the_same_line_is_told_once(troubles: Troubles, told: Told) -> None:
    for number in range(1000):
        fails(troubles.take, ValueError(f"frame {number}"))
    fails(troubles.take, KeyError("another"))
    QCoreApplication.processEvents()
    assert ["frame 0" in text or "another" in text for text, _ in told] == [True, True]


def test_an_error_of_another_thread_is_told_on_the_windows(qtbot: QtBot, told: Told) -> None:
    where: list[threading.Thread] = []
    troubles = Troubles(lambda *_: where.append(threading.current_thread()))
    thread = threading.Thread(target=fails, args=(troubles.take, ValueError("elsewhere")))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(where))
    assert where == [threading.main_thread()]


def test_what_is_no_error_goes_where_it_would_have_gone(
    troubles: Troubles, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[object] = []
    monkeypatch.setattr(sys, "__excepthook__", lambda *args: passed.append(args[0]))
    fails(troubles.take, KeyboardInterrupt())
    QCoreApplication.processEvents()
    assert passed == [KeyboardInterrupt]
    assert told == []


def test_what_goes_wrong_once_the_window_is_gone_is_told_as_python_tells_it(
    troubles: Troubles, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[object] = []
    monkeypatch.setattr(sys, "__excepthook__", lambda *args: passed.append(args[0]))
    delete(troubles)
    fails(troubles.take, ValueError("too late"))
    assert passed == [ValueError]


def test_nothing_keeps_the_frames_of_an_error_that_was_told(
    troubles: Troubles,
) -> None:
    vars(sys).update(last_value=ValueError("kept"), last_traceback=None)
    fails(troubles.take, ValueError("told"))
    assert not {"last_value", "last_traceback"} & set(vars(sys))


def test_the_program_tells_in_its_window(
    rig: Rig, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def loop(*_: object) -> int:
        window = next(
            one for one in qapp.topLevelWidgets() if isinstance(one, MainWindow) and one.isVisible()
        )
        fails(sys.excepthook, ValueError("a slot's"))
        QCoreApplication.processEvents()
        seen.append(window.errors.text + window.log.text)
        window.close_unasked()
        return 7

    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(QApplication, "exec", loop)
    assert run._until_closed(qapp, run._open(rig.controller, Settings(), None)) == 7
    assert seen[0].count("ValueError: a slot's") == 2


def unforeseen(*_arguments: object) -> str:
    raise ZeroDivisionError("what no one foresaw")


def test_an_error_in_a_chore_is_told_and_the_next_chore_is_done(
    troubles: Troubles, told: Told, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", troubles.take)
    chores = Chores()
    done: list[str] = []
    chores.do(unforeseen, done.append)
    chores.do(lambda: "next", done.append)
    chores.wait()
    qtbot.waitUntil(lambda: bool(done) and bool(told))
    assert done == ["next"]
    assert "what no one foresaw" in told[0][0]


def test_masks_that_cannot_be_drawn_are_told_and_waited_for_no_longer(
    troubles: Troubles, told: Told, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", troubles.take)
    monkeypatch.setattr(masks, "_make", unforeseen)
    drawing = masks.Masks(troubles)
    large = Request.of("cpu", seqlens=(65_536,), blocks=BlockPattern(random=0.01), block_size=64)
    with qtbot.waitSignal(drawing.ready):
        assert not drawing.has(large)
    qtbot.waitUntil(lambda: bool(told))
    assert "what no one foresaw" in told[0][0]
