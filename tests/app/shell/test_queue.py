"""Sweeps that wait, in the window: said, listed, moved, taken out, and measured one after the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.app.widgets.frame.queue_sheet import QueueSheet
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.compare.runs import runs_of
from flashscope.profiles.results.model.families import Kinship, families
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import PlanFinished
from tests.app.fakes import PLAN, SECOND, sweep
from tests.app.rig import Rig

OTHERS = tuple(replace(PLAN, seed=seed) for seed in (1, 2, 3))
TINY = Plan(
    backend="cpu",
    kernels=("standard", "flash2"),
    problems=(Problem(seqlen_q=64, seqlen_k=64, head_dim=16, dtype="float32"),),
    protocol=Protocol(warmup=0, repeats=3, time_cap_s=0.05, drift_check=False),
)


def profile(window: MainWindow) -> ProfilePage:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    return page


def sheet_of(window: MainWindow) -> QueueSheet:
    """The list, opened by its key's action."""
    window.trigger("queue")
    sheet = window.findChild(QueueSheet)
    assert sheet is not None
    return sheet


def waiting_seeds(rig: Rig) -> list[int]:
    return [entry.plan.seed for entry in rig.controller.queue.entries]


@pytest.fixture
def queued(window: MainWindow, rig: Rig) -> MainWindow:
    """A window in which one sweep runs and three wait."""
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    for plan in OTHERS:
        rig.controller.run(plan)
    return window


def test_run_adds_to_the_queue_while_a_sweep_runs_and_the_status_bar_says_how_many_wait(
    window: MainWindow, rig: Rig
) -> None:
    window.show_page("profile")
    window.top_bar.run.click()
    assert len(rig.engine.plans) == 1
    assert not window.status.queue.isVisible()
    profile(window).new_sweep()
    assert window.top_bar.run.isVisible()
    assert window.top_bar.run.isEnabled()
    assert window.top_bar.run.text() == "Add to queue"
    window.top_bar.run.click()
    assert len(rig.engine.plans) == 1
    assert window.status.queue.text().startswith("1 waits")
    assert window.errors.text.startswith("Added to the queue: ")
    window.trigger("run")
    assert window.status.queue.text().startswith("2 wait")
    assert "after 1 more" in window.errors.text


@pytest.mark.matrix
def test_a_click_on_the_number_opens_the_list_of_what_waits_in_words(queued: MainWindow) -> None:
    queued.status.queue.click()
    sheet = queued.findChild(QueueSheet)
    assert sheet is not None
    assert sheet.isVisible()
    assert sheet.list.count() == 3
    said = sheet.list.item(0).text()
    assert said.startswith("standard and flash2 · 2 heads, d 64, float32 · N = 256 to 1")
    assert said.endswith("CPU · 6 points")
    assert sheet.running.text() == said
    assert sheet.progress.text().startswith("1 of 6 points")


@pytest.mark.matrix
def test_a_narrow_window_says_only_how_many_wait(queued: MainWindow, qtbot: QtBot) -> None:
    queued.resize(1280, 720)
    qtbot.waitUntil(lambda: queued.status.queue.text().startswith("3 wait, "))
    queued.resize(640, 360)
    qtbot.waitUntil(lambda: queued.status.queue.text() == "3 wait")
    assert queued.width() == 640


def test_a_sweep_is_moved_and_taken_out_with_keys_and_put_back_with_undo(
    queued: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    sheet = sheet_of(queued)
    sheet.list.setCurrentRow(2)
    QTest.keyClick(sheet.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert waiting_seeds(rig) == [1, 3, 2]
    assert sheet.list.currentRow() == 1
    QTest.keyClick(sheet.list, Qt.Key.Key_Delete)
    assert waiting_seeds(rig) == [1, 2]
    assert queued.errors.text.startswith("Taken out of the queue: ")
    queued.trigger("undo")
    assert waiting_seeds(rig) == [1, 3, 2]
    queued.trigger("redo")
    assert waiting_seeds(rig) == [1, 2]
    sheet.list.setCurrentRow(0)
    sheet.down.setFocus()
    qtbot.waitUntil(sheet.down.hasFocus)
    sheet.down.click()
    assert waiting_seeds(rig) == [2, 1]
    assert not sheet.down.isEnabled()
    assert sheet.focusWidget() is sheet.list


@pytest.mark.matrix
def test_cancelling_says_what_begins_then_and_offers_to_cancel_all(
    queued: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    assert "the next one in the queue begins" in queued.top_bar.cancel.toolTip()
    queued.top_bar.cancel.click()
    assert queued.errors.text.startswith("Cancelled; the next one begins: ")
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say([PlanFinished(t_ns=9 * SECOND, outcome="cancelled")])
    assert rig.engine.plans == [PLAN, OTHERS[0]]
    queued.trigger("queue.cancel_all")
    assert rig.engine.cancelled == 2
    assert rig.controller.queue.entries == ()
    assert not queued.status.queue.isVisible()


@pytest.mark.matrix
def test_a_queue_that_stopped_says_why_and_goes_on_when_asked(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    rig.controller.run(PLAN)
    rig.controller.run(OTHERS[0])
    rig.say([*sweep(points=0), PlanFinished(t_ns=9, outcome="failed", reason="No usable GPU here.")])
    assert window.errors.text == "The queue has stopped, 1 waits: No usable GPU here."
    assert window.status.queue.text() == "queue stopped, 1 waits"
    sheet = sheet_of(window)
    assert sheet.stopped.isVisible()
    assert sheet.running.text() == "Nothing runs."
    with qtbot.waitSignal(rig.controller.queue.begun):
        sheet.go_on.click()
    assert rig.engine.plans == [PLAN, OTHERS[0]]
    assert not sheet.stopped.isVisible()


def test_a_queue_says_what_its_next_sweep_waits_for(queued: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    sheet = sheet_of(queued)
    rig.controller.occupy("claims", "Claims are being tested.")
    assert not sheet.stopped.isVisible()
    rig.say([PlanFinished(t_ns=9 * SECOND, outcome="finished")])
    assert sheet.stopped.text() == "It waits: Claims are being tested."
    assert sheet.stopped.isVisible()
    assert not sheet.go_on.isVisible()
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.controller.occupy("claims", "")
    assert not sheet.stopped.isVisible()


@pytest.mark.matrix
def test_an_error_of_the_sweep_before_stays_told_when_the_next_begins(
    queued: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say([PlanFinished(t_ns=9 * SECOND, outcome="failed", reason="The worker died.")])
    assert queued.errors.text == "The worker died."


@pytest.mark.matrix
def test_the_form_stays_open_with_all_it_says_when_the_next_sweep_begins(
    queued: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    page = profile(queued)
    page.new_sweep()
    page.form.heads.setValue(7)
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say([PlanFinished(t_ns=9 * SECOND, outcome="finished")])
    rig.say(sweep(OTHERS[0], points=1))
    assert rig.controller.sweep_on_show
    assert page.form_open
    assert page.form.heads.value() == 7


@pytest.mark.matrix
def test_closing_with_waiting_sweeps_asks_once_and_names_them(
    queued: MainWindow, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(box: QMessageBox) -> int:
        asked.append(box.text())
        next(button for button in box.buttons() if button.text() == "Stop and close").click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", answer)
    assert queued.close()
    (question,) = asked
    assert question.startswith("A sweep is running, and 3 wait: stop it and close?")
    assert "What waits is not kept" in question
    assert question.count("• standard and flash2 · 2 heads") == 3
    assert rig.engine.closed == 1


def test_the_list_says_so_where_nothing_waits(window: MainWindow) -> None:
    sheet = sheet_of(window)
    assert sheet.running.text() == "Nothing runs."
    assert sheet.empty.isVisible()
    assert not sheet.all.isEnabled()


@pytest.fixture
def real(qapp: QApplication, qtbot: QtBot, home: Path) -> Iterator[MainWindow]:
    """A window over the engine that really measures."""
    kernels = "flashscope.kernels.catalogue.registry:KERNELS"
    window = build_window(Controller(lambda sink: LocalEngine(sink, kernels), home), DARK)
    qtbot.addWidget(window, before_close_func=MainWindow.close_unasked)
    with qtbot.waitSignal(window.controller.machine_found):
        window.show()
    yield window
    window.close_unasked()


@pytest.mark.matrix  # it takes a second or more
def test_two_sweeps_are_measured_one_after_the_other_and_the_second_begins_by_itself(
    real: MainWindow, qtbot: QtBot
) -> None:
    controller = real.controller
    controller.run(TINY)
    controller.run(replace(TINY, seed=1))
    qtbot.waitUntil(lambda: controller.sweep is not None and controller.sweep.plan.seed == 1)
    qtbot.waitUntil(lambda: not controller.measuring)
    controller.close()
    found = sorted(
        (load(path) for path in controller.sessions_dir.glob("*.flashscope")), key=lambda s: s.started_at
    )
    assert [session.plan.seed for session in found] == [0, 1]
    assert {session.outcome for session in found} == {"finished"}


@pytest.mark.matrix  # it takes seconds
def test_several_runs_make_a_family_that_compare_takes_as_one_side(real: MainWindow, qtbot: QtBot) -> None:
    controller = real.controller
    controller.run(TINY, runs=3)
    ends: list[object] = []
    controller.sweep_told.connect(
        lambda events: ends.extend(e for e in events if isinstance(e, PlanFinished))
    )
    qtbot.waitUntil(lambda: len(ends) == 3)
    controller.close()
    files = sorted(controller.sessions_dir.glob("*.flashscope"))
    assert [path.stem[-2:] for path in files] == ["-1", "-2", "-3"]
    runs = [load(path) for path in files]
    assert len(runs_of(runs)) == 3
    (family,) = families(runs, lambda run: Kinship(run.run_mark, run.id, files[runs.index(run)]))
    assert [run.run_mark.run for run in family.runs if run.run_mark] == [1, 2, 3]
