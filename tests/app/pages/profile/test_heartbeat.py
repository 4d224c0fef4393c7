"""The event loop stays free while a sweep is watched: no turn of it does too much."""

import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import build_window
from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.wire.events import Event, PointProgress, Reading, Readings
from tests.app.bench import Bench, make_controller
from tests.app.turns import Turns, assert_no_turn_does_too_much
from tests.profiles.sessions import GIB, T0, make_plan, script


def test_no_turn_of_the_event_loop_does_too_much_in_a_flood_of_events(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Turns(bench.controller, monkeypatch)
    events = script(make_plan(tuple(spec.name for spec in LADDER), tuple(256 << k for k in range(8))))
    bench.page.run()
    bench.tell(events[:4])  # the session is there, every curve is made
    bench.settle()  # what `tell` let go of is laid out around the telemetry, and painted at once
    pusher = threading.Thread(target=lambda: [bench.engine.sink(event) for event in flood(events[4:])])
    pusher.start()
    pusher.join()  # all of it waits: every turn has as much to do as one ever has
    with turns.counted():
        bench.qtbot.waitUntil(lambda: not bench.controller.running, timeout=120_000)
        bench.qtbot.waitUntil(lambda: bench.page._turns.idle, timeout=120_000)
    assert len(bench.page.bottom.strip.ring) > 2000
    assert_no_turn_does_too_much(turns)


def flood(events: list[Event]) -> list[Event]:
    """Far more than an engine says: with every event 50 readings and 40 steps of progress."""
    told: list[Event] = []
    for number, event in enumerate(events):
        progress = [
            PointProgress(index=0, phase="measure", done=done, total=40, last_ms=1.0 + done)
            for done in range(40)
        ]
        readings = Readings(readings=tuple(_reading(number / 20 + k / 1000) for k in range(50)))
        told += [event, *progress, readings]
    return told


def _reading(second: float) -> Reading:
    return Reading(t_ns=T0 + round(second * 1e9), memory_used=GIB, utilisation=50.0, power_w=300.0)


@pytest.mark.matrix  # it takes seconds
def test_no_turn_does_too_much_in_a_real_cpu_sweep_run_from_the_start_page(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Run on the start page, which shows the Profile page for the first time, to the sweep's end."""
    window = build_window(Controller(LocalEngine, tmp_path), DARK)
    qtbot.addWidget(window, before_close_func=lambda _: window.close_unasked())
    window.resize(1280, 720)
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    turns = Turns(window.controller, monkeypatch)
    with qtbot.waitSignal(window.controller.machine_found, timeout=120_000):
        window.show()
    window.controller.choose_backend("cpu")
    page.form.chips.field.setText("256:512")
    QApplication.processEvents()
    assert not page.isVisible()
    with turns.counted():
        window.top_bar.run.click()
        qtbot.waitUntil(lambda: not window.controller.running, timeout=240_000)
        qtbot.waitUntil(page.isVisible)
    session = window.controller.session
    assert session is not None
    assert [state.status for state in session.cells] == ["done"] * 2 * len(page.form.request().kernels)
    assert_no_turn_does_too_much(turns)


def test_run_is_disabled_with_the_reason_while_the_form_cannot_run(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    window = build_window(make_controller(tmp_path)[0], DARK)
    qtbot.addWidget(window)
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    page.form.chips.field.setText("")
    assert not window.top_bar.run.isEnabled()
    assert "sequence length" in window.top_bar.run.toolTip()
    page.form.chips.field.setText("256")
    assert window.top_bar.run.isEnabled()
    window.close_unasked()
