"""How far a sweep is, in words."""

from flashscope.app.words.results.progress import count_text, outcome_text
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import Event, PlanFinished, RanksReady
from tests.app.pages.profile.failing import EVENTS
from tests.profiles.rank_results import result
from tests.profiles.sessions import session_of
from tests.profiles.store import builders


def test_the_count_says_how_many_of_the_points_that_ended_failed_and_how() -> None:
    assert count_text(session_of(EVENTS)) == "6 of 6 points, 1 timeout, 1 out of memory"


def test_of_a_session_without_points_no_sweep_is_said_to_have_finished() -> None:
    started = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    kept: list[Event] = [started, RanksReady(result=result()), PlanFinished(t_ns=2_000, outcome="finished")]
    assert outcome_text(session_of(kept)) == "No sweep"
