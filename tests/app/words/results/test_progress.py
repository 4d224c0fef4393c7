"""How far a sweep is, in words."""

from typing import cast

import pytest

from flashscope.app.words.results.progress import count_text, outcome_text
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import Event, PlanFinished, PointStatus, RanksReady
from tests.app.pages.profile.failing import EVENTS
from tests.profiles.rank_results import result
from tests.profiles.sessions import make_plan, script, session_of
from tests.profiles.store import builders


def test_the_count_says_how_many_of_the_points_that_ended_failed_and_how() -> None:
    assert count_text(session_of(EVENTS)) == "6 of 6 points, 1 timeout, 1 out of memory"


def test_of_a_session_without_points_no_sweep_is_said_to_have_finished() -> None:
    started = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    kept: list[Event] = [started, RanksReady(result=result()), PlanFinished(t_ns=2_000, outcome="finished")]
    assert outcome_text(session_of(kept)) == "No sweep"


@pytest.mark.parametrize("repeated", ["cancelled", "pending", "done"])
def test_of_a_sweep_that_was_cancelled_in_its_drift_check_only_that_is_said_to_be(repeated: str) -> None:
    plan = make_plan(("flash2",), (512,))
    session = session_of(script(plan))
    session.points[plan.cells :] = [session_of(script(plan)).points[0]]
    session.points[-1].status, session.outcome = cast("PointStatus", repeated), "cancelled"
    told = "Sweep cancelled" if repeated == "done" else "Sweep finished, drift check cancelled"
    assert outcome_text(session).split(" · ")[0] == told
    session.points[0].status = "cancelled"
    assert outcome_text(session).split(" · ")[0] == "Sweep cancelled"
