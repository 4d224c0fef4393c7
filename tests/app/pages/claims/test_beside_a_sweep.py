"""Claims and sweeps never measure at the same time: the later one is not begun, and the window says why."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.control.inside.occupying import LAUNCHED, RECORDED, SAMPLED
from flashscope.app.pages.claims import ClaimsPage, testing
from flashscope.app.pages.planner import PlannerPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.words.learn.claims import A_SWEEP_MEASURES, BEING_TESTED
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.profiles.wire.events import RequestFailed, RequestKind
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save

PROBLEM = Problem(seqlen_q=64, seqlen_k=64, dtype="float16")
INSIDE: dict[str, tuple[object, RequestKind, str]] = {
    "timelines": ([TimelineRequest(problem=PROBLEM, kernel="flash2")], "timeline", RECORDED),
    "stalls": ([StallRequest(problem=PROBLEM, kernel="flash2")], "stalls", SAMPLED),
    "live": (LiveRequest(problem=PROBLEM, kernel="flash2", seconds=5), "live", LAUNCHED),
}


@pytest.fixture
def page(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> ClaimsPage:
    """Its rounds begin, and end when a test says so."""

    def begin(round_of_all: testing.Testing, _device: Device | None) -> None:
        round_of_all.active = True

    monkeypatch.setattr(testing.Testing, "start", begin)
    window.show_page("claims")
    found = window.pages["claims"]
    assert isinstance(found, ClaimsPage)
    return found


def goes_on(page: ClaimsPage) -> bool:
    """Whether claims are being tested."""
    return page.testing.active


def end(page: ClaimsPage) -> None:
    """Let the round that goes on end."""
    page.testing.active = False
    page.testing.ended.emit()


def tip(text: str) -> str:
    """A tool tip in one line."""
    return " ".join(text.split())


def test_while_a_sweep_measures_no_claim_is_tested_and_the_page_says_why(
    rig: Rig, window: MainWindow, page: ClaimsPage, qtbot: QtBot
) -> None:
    before = page.source.text()
    rig.controller.run(PLAN)
    window.show_page("claims")
    QTest.mouseClick(page.button, Qt.MouseButton.LeftButton)
    QTest.keyClick(window, Qt.Key.Key_T)
    page.test()
    assert not goes_on(page)
    assert A_SWEEP_MEASURES in tip(page.button.toolTip())
    assert page.source.text() == A_SWEEP_MEASURES
    with qtbot.waitSignal(rig.controller.running_changed):
        rig.engine.say(sweep())
    assert page.source.text() == before
    QTest.mouseClick(page.button, Qt.MouseButton.LeftButton)
    assert goes_on(page)
    end(page)


def test_while_claims_are_tested_run_says_why_no_sweep_starts(
    rig: Rig, window: MainWindow, page: ClaimsPage
) -> None:
    run, before = window.top_bar.run, window.top_bar.run.toolTip()
    page.test()
    assert (run.isEnabled(), tip(run.toolTip()).startswith(BEING_TESTED)) == (False, True)
    rig.controller.run(PLAN)
    assert rig.engine.plans == []
    assert window.errors.text == BEING_TESTED
    assert page.button.isEnabled()
    end(page)
    assert (run.isEnabled(), run.toolTip()) == (True, before)
    rig.controller.run(PLAN)
    assert len(rig.engine.plans) == 1


@pytest.mark.parametrize("work", INSIDE)
def test_what_inside_measures_keeps_claims_away_and_lets_sweeps_begin(
    rig: Rig, window: MainWindow, page: ClaimsPage, work: str
) -> None:
    asked, kind, reason = INSIDE[work]
    inside = getattr(rig.controller, work)
    inside.ask(asked)
    page.test()
    assert not goes_on(page)
    assert (page.button.isEnabled(), page.source.text()) == (False, reason)
    assert window.top_bar.run.isEnabled()
    assert not rig.controller.why_no_sweep
    inside.take(RequestFailed(request=kind, reason="It was cancelled."))
    page.test()
    assert goes_on(page)
    end(page)


def test_what_else_measures_keeps_claims_away_and_its_end_does_not_lift_what_another_says(
    rig: Rig, window: MainWindow, page: ClaimsPage
) -> None:
    controller, told = rig.controller, list[str]()
    controller.occupied_changed.connect(told.append)
    controller.occupy("audit", "A model is audited.")
    page.test()
    window.trigger("claims.test")
    assert not goes_on(page)
    assert not page.button.isEnabled()
    assert "A model is audited." in page.button.toolTip()
    controller.occupy("tiles", "Tiles are timed.")
    controller.occupy("audit", "")
    assert controller.occupied == "Tiles are timed."
    controller.occupy("tiles", "")
    assert told == ["A model is audited.", "Tiles are timed.", ""]
    assert page.button.isEnabled()
    page.test()
    assert goes_on(page)
    end(page)
    assert not controller.occupied


@pytest.mark.matrix
def test_while_claims_are_tested_no_sweep_is_resumed(
    rig: Rig, window: MainWindow, page: ClaimsPage, save: Save
) -> None:
    rig.open(save(sweep(points=2), "half"))
    resume = window.top_bar.resume
    assert (resume.isHidden(), resume.isEnabled()) == (False, True)
    page.test()
    assert (resume.isEnabled(), tip(resume.toolTip()).startswith(BEING_TESTED)) == (False, True)
    window._resumer.resume()
    assert window.errors.text == BEING_TESTED
    end(page)
    assert resume.isEnabled()


@pytest.mark.matrix
def test_while_claims_are_tested_the_planner_does_not_search(
    rig: Rig, window: MainWindow, page: ClaimsPage
) -> None:
    planner = window.pages["planner"]
    assert isinstance(planner, PlannerPage)
    button = planner.crossing.button
    page.test()
    assert (button.isEnabled(), tip(button.toolTip()).startswith(BEING_TESTED)) == (False, True)
    planner.search()
    assert rig.engine.plans == []
    end(page)
    assert button.isEnabled()
    assert "Find by measuring" in button.toolTip()


@pytest.mark.matrix
def test_the_planner_says_that_a_sweep_runs_already(rig: Rig, window: MainWindow) -> None:
    planner = window.pages["planner"]
    assert isinstance(planner, PlannerPage)
    rig.controller.run(PLAN)
    button = planner.crossing.button
    assert (button.isEnabled(), "running already" in button.toolTip()) == (False, True)
