"""A window on a machine with several GPUs, and a host that lends two devices."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.store import sessions_dir
from tests.app.control.far.shared import GPUS, Shared
from tests.app.fakes import FakeEngine
from tests.end_to_end.hosts import RunningHost, host_of


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Shared:
    return Shared(monkeypatch, qtbot.waitUntil)


@pytest.fixture
def controller(qapp: QApplication, qtbot: QtBot) -> Iterator[Controller]:
    def make(sink: Sink) -> FakeEngine:
        engine = FakeEngine(sink)
        engine.gpus = GPUS
        return engine

    made = Controller(make, sessions_dir())
    with qtbot.waitSignal(made.machine_found):
        made.start()
    yield made
    made.close()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with host_of(tmp_path_factory.mktemp("host"), "CPU 0", "CPU 1") as running:
        yield running
