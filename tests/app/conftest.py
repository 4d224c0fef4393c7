"""Every test of the window: settings and sessions in its own folder, no thread left behind."""

import gc
import shutil
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.look.fonts import load_fonts
from flashscope.app.shell.start_up import ahead
from tests.app.bench import bench, shared_bench
from tests.app.leftovers import finish, going_on, named
from tests.app.rig import NEVER_MS, PATIENCE_MS, PatientBot, rig, save, shared_window, window
from tests.app.shell.played.drawn import raised
from tests.disk import no_disk_is_waited_for
from tests.let_go import let_go

__all__ = [
    "bench",
    "no_disk_is_waited_for",
    "raised",
    "rig",
    "save",
    "shared_bench",
    "shared_window",
    "window",
]  # fixtures for every room

HOMES = count()


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


@pytest.fixture(autouse=True, scope="session")
def fonts(qapp: QApplication) -> None:
    """The window's own, before anything is written: Qt goes on with what it took in their place."""
    load_fonts()


@pytest.fixture(autouse=True)
def home(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Made by whoever writes there, which few tests do: a folder takes milliseconds. Kept of a failure."""
    path, failed = tmp_path_factory.getbasetemp() / f"home-{next(HOMES)}", request.session.testsfailed
    monkeypatch.setenv("FLASHSCOPE_HOME", str(path))
    yield path
    if request.session.testsfailed == failed:
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(autouse=True)
def no_widget_is_left(qapp: QApplication) -> None:
    """Without a running event loop, what the test before let go of is deleted only when it is asked for.

    A test without an application would pass only on a worker where another one has made it: without one, Qt
    starts no timer and lays out no text.

    Its Python halves go here too: collected while a signal is being disconnected, they can hang Qt. What is
    left stays for good, such as the modules of PyTorch: to go through them in every test takes half a second.
    So nothing may be left that an event holds, or an object that goes only now: thousands of menus, which
    every change of style or of font goes through.
    """
    let_go()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_goes_on(no_widget_is_left: None, request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test leaves ticking or working fails this test, by name, not one that comes later."""
    failed = request.session.testsfailed
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if request.session.testsfailed > failed:
        return  # its traceback holds what it had no time to stop
    if found := going_on():
        finish(found, PATIENCE_MS)
        del found
        gc.collect()
    left = ", ".join(map(named, going_on()))
    assert not left, f"{left} goes on"


@pytest.fixture(autouse=True)
def no_key_is_held(no_widget_is_left: None) -> None:
    """A key that a test before pressed with Ctrl leaves Qt believing that Ctrl is still down."""
    if QApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        QTest.keyRelease(QWidget(), Qt.Key.Key_Control, Qt.KeyboardModifier.NoModifier)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if not thread.daemon:
            thread.join(60)
            assert not thread.is_alive(), f"{thread.name} still runs"


@pytest.fixture(autouse=True)
def no_dialog_waits_for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        pytest.fail("a question was asked that the test does not answer")

    monkeypatch.setattr(QMessageBox, "exec", fail)


@pytest.fixture(autouse=True)
def no_page_is_made_but_the_one_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window loads and makes its other pages while nothing happens, which most tests need not wait for."""
    monkeypatch.setattr(ahead, "IDLE_MS", NEVER_MS)
    monkeypatch.setattr(ahead, "modules_of_pages", lambda: iter(()))
