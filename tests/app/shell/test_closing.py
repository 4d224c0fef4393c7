"""The way out: asked once while a sweep runs, and nothing is left behind."""

import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.plots.export import exporter
from flashscope.app.shell.closing import AUDIT_QUESTION, CLOSE_QUESTION
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.store import sessions_dir, write_atomically
from tests.app.control.test_auditing import ASKED, FakeProcess
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save


def answer(monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    asked: list[str] = []

    def run(box: QMessageBox) -> int:
        asked.append(box.text())
        assert box.defaultButton().text() == "Keep running"
        next(button for button in box.buttons() if button.text() == words).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", run)
    return asked


def test_closing_during_a_sweep_asks_once_and_may_be_declined(
    window: MainWindow, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.controller.run(PLAN)
    asked = answer(monkeypatch, "Keep running")
    assert not window.close()
    assert window.isVisible()
    assert rig.engine.closed == 0
    answered = answer(monkeypatch, "Stop and close")
    assert window.close()
    assert asked == answered == [CLOSE_QUESTION]
    assert rig.engine.closed == 1


def test_closing_during_an_audit_asks_too(
    window: MainWindow, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rig.controller.auditing, "make", FakeProcess)
    rig.controller.auditing.ask(ASKED)
    asked = answer(monkeypatch, "Keep running")
    assert not window.close()
    assert asked == [AUDIT_QUESTION]
    rig.controller.auditing.cancel()
    assert window.close()


def test_closing_without_a_sweep_asks_nothing_and_leaves_no_thread(window: MainWindow, rig: Rig) -> None:
    assert window.close()
    assert rig.engine.closed == 1
    assert [thread for thread in threading.enumerate() if not thread.daemon] == [threading.main_thread()]


@pytest.mark.matrix
def test_a_signal_of_the_system_closes_without_asking(window: MainWindow, rig: Rig) -> None:
    rig.controller.run(PLAN)
    window.close_unasked()
    assert rig.engine.closed == 1


@pytest.mark.matrix
def test_a_plot_that_is_being_written_is_written_whole_before_the_window_goes(
    window: MainWindow, rig: Rig, save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.open(save(sweep(), "saved"))
    let = threading.Event()

    def late(target: Path, content: bytes, *, replace: bool) -> None:
        let.wait(5)
        write_atomically(target, content, replace=replace)

    monkeypatch.setattr(exporter, "write_atomically", late)
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    page.bottom.export_button.exporter.save("csv", tmp_path / "telemetry.csv")
    threading.Timer(0.1, let.set).start()
    assert window.close()
    assert (tmp_path / "telemetry.csv").stat().st_size


def test_a_change_of_the_folder_that_is_told_last_is_not_read_by_a_closed_window(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = window.pages["sessions"]
    assert isinstance(page, SessionsPage)
    sessions_dir().mkdir(parents=True)
    with qtbot.waitSignal(page._listing.ended):
        page.refresh()
    (sessions_dir() / "new.flashscope").write_bytes(b"")
    qtbot.waitUntil(page._watch._timer.isActive)
    window.close_unasked()
    assert not page._watch._timer.isActive()
    assert not page._watch._watcher.directories()
