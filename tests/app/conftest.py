"""Every test of the window: no screen, settings and sessions in its own folder, no thread left behind."""

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt is imported

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QMessageBox


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def no_widget_is_left() -> None:
    """Without a running event loop, what the test before let go of is deleted only when it is asked for."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        if not thread.daemon:
            thread.join(5)
            assert not thread.is_alive(), f"{thread.name} still runs"


@pytest.fixture(autouse=True)
def no_dialog_waits_for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        pytest.fail("a question was asked that the test does not answer")

    monkeypatch.setattr(QMessageBox, "exec", fail)
