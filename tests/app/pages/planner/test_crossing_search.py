"""The search for the crossing: sweeps through the controller, its progress, and its end."""

from itertools import count

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.pages.planner import PlannerPage
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import Event, Outcome, PlanFinished, PointStarted
from tests.app.fakes import GPU_MACHINE, PLAN, SECOND, measurement, plan_started, sweep
from tests.app.pages.planner.conftest import GPU_PLAN
from tests.app.rig import Rig, Save
from tests.profiles.sessions import ends_well

NUMBERS = count()


def swept(plan: Plan, change: int, outcome: Outcome = "finished") -> list[Event]:
    """A sweep in which the tiled kernel is faster from N = `change` on."""
    number = next(NUMBERS)
    begun = replace(
        plan_started(plan), session_id=f"{number:032x}", started_at=f"2026-11-21T10:00:{number:02}+00:00"
    )
    events: list[Event] = [begun]
    for point in plan.points():
        wins = (point.kernel != "standard") == (point.problem.seqlen_q >= change)
        events.append(PointStarted(index=point.index, t_ns=SECOND))
        events += ends_well(point.index, 2 * SECOND, measurement(1.0 if wins else 2.0, 1000))
    return [*events, PlanFinished(t_ns=3 * SECOND, outcome=outcome)]


def search(rig: Rig, page: PlannerPage, qtbot: QtBot, change: int) -> None:
    """Press the button and play the engine until the search is over."""
    page.crossing.button.click()
    for asked in range(1, 20):
        assert len(rig.engine.plans) == asked
        rig.say(swept(rig.engine.plans[-1], change))
        qtbot.waitUntil(lambda at=asked: not page.finding.active or len(rig.engine.plans) > at)  # type: ignore[misc]
        if not page.finding.active:
            return
    pytest.fail("the search does not end")


@pytest.mark.matrix
def test_a_search_measures_both_kernels_with_the_models_heads_until_the_interval_is_fine(
    rig: Rig, page: PlannerPage, qtbot: QtBot
) -> None:
    search(rig, page, qtbot, 300)
    first = rig.engine.plans[0]
    assert first.kernels == ("standard", "flash2")  # flash3 does not run on a CPU
    assert (first.problems[0].heads, first.problems[0].kv_heads) == (32, 8)
    assert {problem.dtype for problem in first.problems} == {"float32"}
    assert "between N = 296 and 304, both measured" in page.crossing.found.text()
    assert "Test CPU" in page.crossing.found.text()
    assert page.crossing.button.text() == "Find it here"


@pytest.mark.matrix
def test_while_it_searches_it_tells_how_it_goes_and_can_be_stopped(
    rig: Rig, page: PlannerPage, qtbot: QtBot
) -> None:
    page.crossing.button.click()
    plan = rig.engine.plans[0]
    rig.say(swept(plan, 300)[:4])
    assert "Sweep 1: flash2 beside standard at N = 16 to" in page.crossing.found.text()
    assert "1 of 14 points" in page.crossing.found.text()
    assert page.crossing.button.text() == "Stop"
    page.crossing.button.click()
    assert rig.engine.cancelled == 1
    rig.say([PlanFinished(t_ns=SECOND, outcome="cancelled")])
    assert page.crossing.found.text() == "The search was stopped."
    assert page.crossing.button.text() == "Find it here"
    assert page.crossing.button.isEnabled()


@pytest.mark.matrix
def test_a_sweep_that_is_cancelled_elsewhere_ends_the_search(rig: Rig, page: PlannerPage) -> None:
    page.crossing.button.click()
    rig.say(swept(rig.engine.plans[0], 300, "cancelled"))
    assert not page.finding.active
    assert page.crossing.found.text() == "The search was stopped."


def test_an_engine_that_is_busy_ends_the_search_at_once(rig: Rig, page: PlannerPage) -> None:
    rig.engine.busy = True
    page.crossing.button.click()
    assert not page.finding.active
    assert page.crossing.button.text() == "Find it here"


@pytest.mark.matrix
def test_what_was_forecast_from_stays_while_a_search_brings_its_own_sessions(
    rig: Rig, save: Save, page: PlannerPage, qtbot: QtBot
) -> None:
    rig.open(save(sweep(GPU_PLAN, GPU_MACHINE), "on a GPU"))
    assert page.found is not None
    before = [one.forecast for one in page.found.prospects]
    assert any(before)
    search(rig, page, qtbot, 64)
    assert [one.forecast for one in page.found.prospects] == before
    assert "Test GPU" in page.source.text()
    rig.open(save(sweep(), "on the CPU"))
    assert "Test CPU" in page.source.text()


@pytest.mark.matrix
def test_a_search_waits_for_a_sweep_that_runs(rig: Rig, page: PlannerPage) -> None:
    rig.controller.run(GPU_PLAN)
    assert not page.crossing.button.isEnabled()
    page.search()
    assert not page.finding.active
    assert rig.engine.plans == [GPU_PLAN]


@pytest.mark.matrix
def test_a_sweep_that_waits_begins_after_the_search_not_between_its_sweeps(
    rig: Rig, page: PlannerPage, qtbot: QtBot
) -> None:
    page.crossing.button.click()
    assert rig.controller.run(PLAN)
    rig.say(swept(rig.engine.plans[0], 300))
    qtbot.waitUntil(lambda: len(rig.engine.plans) == 2)
    assert PLAN not in rig.engine.plans
    assert page.finding.active
    page.finding.cancel()
    with qtbot.waitSignal(rig.controller.queue.begun):
        rig.say([*swept(rig.engine.plans[1], 300)[:1], PlanFinished(t_ns=SECOND, outcome="cancelled")])
    assert rig.engine.plans[-1] == PLAN
