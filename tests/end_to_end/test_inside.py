"""From a sweep's file to what is inside its points, by a real engine, and kept in that file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.cli import main
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import load

PATIENCE_MS = 120_000


@pytest.fixture
def window(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    made = build_window(Controller(LocalEngine, tmp_path / "home" / "sessions"), DARK)
    qtbot.addWidget(made)
    with qtbot.waitSignal(made.controller.machine_found, timeout=PATIENCE_MS):
        made.show()
    yield made
    made.close_unasked()


@pytest.mark.matrix
def test_a_point_of_a_sweep_is_traced_and_recorded_and_both_are_in_its_file(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "swept.flashscope"
    assert (
        main(["sweep", "--backend", "cpu", "--kernels", "flash2", "--seqlen", "600", "--out", str(path)]) == 0
    )
    controller = window.controller
    with qtbot.waitSignal(controller.session_changed, timeout=PATIENCE_MS):
        controller.open_session(path)
    window.show_page("results")
    controller.choose_point(0)
    window.trigger("inside")
    stepper = window.pages["stepper"]
    assert isinstance(stepper, StepperPage)
    qtbot.waitUntil(lambda: stepper.story is not None, timeout=PATIENCE_MS)
    assert "N = 512 in the place of 600" in stepper.visits.line.words.text()
    with qtbot.waitSignal(controller.keeping.kept, timeout=PATIENCE_MS):
        stepper.visits.keep_button.click()
    window.trigger("inside.back")
    assert window.view == "results"
    window.trigger("inside.timeline")
    timeline = window.pages["timeline"]
    assert isinstance(timeline, TimelinePage)
    qtbot.waitUntil(lambda: len(timeline.lineup.drawn) == 1, timeout=PATIENCE_MS)
    with qtbot.waitSignal(controller.keeping.kept, timeout=PATIENCE_MS):
        timeline.keep_button.click()
    found = load(path)
    assert not found.altered
    assert [one.request.problem.seqlen_k for one in found.traces] == [512]
    assert [one.request.problem.seqlen_k for one in found.timelines] == [600]
    assert found.traces[0].device == found.timelines[0].device == found.machine.devices[-1].name
