"""Every test of the window: settings and sessions in its own folder, no thread left behind."""

import gc
import threading
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.shell import ahead

PATIENCE_MS = 60_000  # nobody waits for so long but on a machine that hardly gets to it


class PatientBot(QtBot):
    """Waits for as long as a machine may take that has other things to do."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=PATIENCE_MS)  # noqa: N815 - its name
    waitSignal = partialmethod(QtBot.waitSignal, timeout=PATIENCE_MS)  # noqa: N815 - as above


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def no_widget_is_left() -> None:
    """Without a running event loop, what the test before let go of is deleted only when it is asked for.

    Its Python halves go here too: collected while a signal is being disconnected, they can hang Qt. What is
    left stays for good, such as the modules of PyTorch: to go through them in every test takes half a second.
    So nothing may be left that an event holds, or an object that goes only now: thousands of menus, which
    every change of style or of font goes through.
    """
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QCoreApplication.sendPostedEvents()
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_key_is_held(no_widget_is_left: None) -> None:
    """A key that a test before pressed with Ctrl leaves Qt believing that Ctrl is still down."""
    if QApplication.instance() and QApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
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
    """A window makes its other pages while nothing happens, which most tests need not wait for."""
    monkeypatch.setattr(ahead, "IDLE_MS", 3_600_000)
