"""The Audit page: the calls of a step of the session on show, what follows, and how to make an audit."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.auditing import PUT_AWAY
from flashscope.app.control.bundled import AUDITS, audit_recordings
from flashscope.app.control.endings import REPLAYING
from flashscope.app.pages.audit import AuditPage
from flashscope.app.pages.audit.dialog import AuditDialog
from flashscope.app.pages.audit.running import WAITS, RunningAudit
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.words.learn.audits import CODE_IS_FOR_A_TERMINAL
from flashscope.profiles.results.compare.switching import switchings_of
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.store import load
from flashscope.profiles.wire.audits import AuditEnded
from tests.app.control.test_auditing import ASKED, AUDIT, FakeProcess
from tests.app.fakes import PLAN, plan_started, sweep
from tests.app.rig import Rig, Save
from tests.profiles.store import builders


@pytest.fixture
def page(rig: Rig, window: MainWindow) -> AuditPage:
    found = window.pages["audit"]
    assert isinstance(found, AuditPage)
    window.show_page("audit")
    return found


@pytest.fixture
def shown(qtbot: QtBot, page: AuditPage, window: MainWindow, save: Save) -> AuditPage:
    """The page with a session that has an audit."""
    window.open_path(save(list(builders.whole_sweep()), "audited"))
    window.show_page("audit")
    qtbot.waitUntil(lambda: bool(page.found))
    return page


def cells(page: AuditPage, row: int) -> list[str]:
    listed = page.table.list
    return [str(listed.data(listed.index(row, column))) for column in range(listed.columnCount())]


def test_without_an_audit_it_says_how_to_make_one(page: AuditPage) -> None:
    assert page.stack.currentIndex() == 0
    assert page.table.list.rowCount() == 0


def test_a_session_with_an_audit_shows_the_calls_of_its_step(shown: AuditPage) -> None:
    assert shown.stack.currentIndex() == 1
    first, second = cells(shown, 0), cells(shown, 1)
    assert first[:2] == ["model.layers.0,2.self_attn", "2"]
    assert first[4:7] == ["causal", "–", "flash"]
    assert second[4:7] == ["window 16", "dropout 0.5", "math"]
    assert shown.sentence.text().startswith("prefill: a step takes 10.2 ms")
    assert "SmallForCausalLM" in shown.head.text()
    assert "Replays: " in shown.head.text()
    assert "compared with float64 attention" in shown.head.text()


def test_what_follows_says_what_no_kernel_takes_and_what_was_refused(shown: AuditPage) -> None:
    text = shown.gains.text()
    assert "no kernel here takes dropout" in text
    assert "eager: cannot be put in place: It has none." in text
    assert "Only 4 of 32 layers were built" in text


def test_an_audit_that_comes_with_the_program_is_one_choice_away(
    qtbot: QtBot, page: AuditPage, window: MainWindow
) -> None:
    choice = page.empty.choice
    assert [choice.itemText(at) for at in range(choice.count())] == ["Choose a model …", *AUDITS.values()]
    choice.setCurrentText("Llama-3, CPU")
    choice.activated.emit(choice.currentIndex())
    assert choice.currentText() == "Choose a model …", "none is on show when the page is empty again"
    qtbot.waitUntil(lambda: bool(page.found))
    assert window.page is page
    assert page.stack.currentIndex() == 1
    assert page.models.currentText() == "Llama-3, CPU"
    assert {found.phase for _, found in page.found} == {"prefill", "decode", "training"}
    assert "LlamaForCausalLM" in page.head.text()


@pytest.mark.matrix
def test_from_one_recorded_model_to_the_next_is_one_choice(qtbot: QtBot, shown: AuditPage) -> None:
    assert shown.models.currentText() == "your session"
    place = shown.models.findText("gpt-oss, CPU")
    shown.models.setCurrentIndex(place)
    shown.models.activated.emit(place)
    qtbot.waitUntil(lambda: bool(shown.found) and "GptOss" in shown.head.text())
    assert shown.models.findText("your session") == -1
    assert any("sinks" in cells(shown, row)[5] for row in range(shown.table.list.rowCount()))


@pytest.mark.parametrize("path", audit_recordings(), ids=lambda path: path.stem)
def test_a_recorded_audit_names_what_ran_and_tells_both_roads(path: Path) -> None:
    session = load(path)
    (audit,) = session.audits
    assert audit.layers == audit.layers_in_all
    assert all(call.operators for call in audit.calls)
    for found in switchings_of(audit, rows(session)):
        assert 0 < found.share < 1
        assert any(real.predicted for real in found.real)


@pytest.mark.matrix
def test_another_session_takes_it_away_again(
    qtbot: QtBot, shown: AuditPage, window: MainWindow, save: Save
) -> None:
    window.open_path(save([builders.plan_started()], "other"))
    qtbot.waitUntil(lambda: not shown.found)
    assert shown.stack.currentIndex() == 0


def test_a_model_is_asked_for_by_a_key_and_one_of_a_file_of_code_is_left_to_a_terminal(
    page: AuditPage, window: MainWindow
) -> None:
    assert page.empty.audit.isEnabled()
    window.trigger("audit.ask")
    dialog = page.findChild(AuditDialog)
    assert dialog is not None
    assert not dialog.audit_button.isEnabled()
    dialog.model.setText("my_model.py:make")
    assert not dialog.audit_button.isEnabled()
    assert dialog.told.text() == CODE_IS_FOR_A_TERMINAL
    dialog.model.setText(" a-model ")
    dialog.layers.setValue(2)
    dialog.training.setChecked(True)
    assert dialog.audit_button.isEnabled()
    assert not dialog.told.isVisible()
    asked = dialog.asked
    assert (asked.model, asked.layers, asked.training, asked.dtype) == ("a-model", 2, True, "float32")
    dialog.reject()


def test_while_a_model_is_audited_a_line_says_how_far_it_is_and_ends_it(
    page: AuditPage, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    auditing = window.controller.auditing
    monkeypatch.setattr(auditing, "make", FakeProcess)
    auditing.ask(ASKED)
    line = page.findChild(RunningAudit)
    assert line is not None
    assert line.isVisible()
    assert not page.empty.audit.isEnabled()
    auditing.progressed.emit("prefill: 3 of 9 rounds", 1, 4)
    assert line.text.text() == "2 of 4: prefill: 3 of 9 rounds"
    line.cancel.click()
    assert not line.isVisible()
    assert page.empty.audit.isEnabled()
    assert not window.controller.occupied


def test_where_another_device_is_taken_the_window_says_that_the_audit_was_put_away(
    page: AuditPage, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = window.controller
    monkeypatch.setattr(controller.auditing, "make", FakeProcess)
    controller.auditing.ask(ASKED)
    controller.devices.moved.emit()
    assert window.errors.text == PUT_AWAY
    line = page.findChild(RunningAudit)
    assert line is not None
    assert not line.isVisible()


def test_an_audit_that_ends_during_a_replay_waits_for_its_end_and_says_so(
    page: AuditPage, rig: Rig, qtbot: QtBot, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, heard = rig.controller, list[tuple[bool, bool]]()
    controller.running_changed.connect(lambda running: heard.append((running, controller.measuring)))
    monkeypatch.setattr(controller.auditing, "make", FakeProcess)
    controller.auditing.ask(ASKED)
    process = controller.auditing._process
    assert isinstance(process, FakeProcess)
    rig.open(save(sweep(), "saved"))
    controller.replay(1.0)
    process.say(AuditEnded(audit=AUDIT))
    line = page.findChild(RunningAudit)
    assert line is not None
    qtbot.waitUntil(lambda: line.text.text() == f"The model is audited. {WAITS}: {REPLAYING}")
    assert rig.engine.plans == []
    assert not line.isHidden()
    controller.cancel()
    qtbot.waitUntil(lambda: len(rig.engine.plans) == 1)
    assert heard == [(True, False), (False, False), (True, True)]
    assert line.isHidden()


def test_no_model_is_audited_beside_a_sweep(page: AuditPage, rig: Rig) -> None:
    rig.controller.run(PLAN)
    rig.say([plan_started()])
    assert not page.empty.audit.isEnabled()
    page.ask()
    assert page.findChild(AuditDialog) is None


def test_no_model_is_audited_beside_a_timeline_also_one_that_began_under_the_dialog(
    page: AuditPage, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = rig.controller
    page.ask()
    dialog = page.findChild(AuditDialog)
    assert dialog is not None
    dialog.model.setText("a-model")
    monkeypatch.setattr(controller.timelines, "asked", object())
    controller.timelines.changed.emit()
    assert not page.empty.audit.isEnabled()
    dialog.accept()
    assert controller.auditing.asked is None
    monkeypatch.setattr(controller.timelines, "asked", None)
    controller.timelines.changed.emit()
    assert page.empty.audit.isEnabled()
