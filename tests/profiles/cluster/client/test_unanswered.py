"""How what was asked of a lost engine ends."""

import pytest

from flashscope.profiles.cluster.calls import Renew, RunPlan, WatchBackend
from flashscope.profiles.cluster.client.unanswered import Unanswered
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.request import Request
from flashscope.profiles.wire.events import (
    Event,
    PlanFinished,
    PointFailed,
    PointMeasured,
    PointStarted,
    RequestFailed,
)
from flashscope.profiles.wire.messages import ProbeMachine

HOUR_NS = 3_600_000_000_000


def plan() -> Plan:
    return Request.of("cpu").plan()


@pytest.fixture
def unanswered() -> Unanswered:
    return Unanswered()


def started(index: int) -> Event:
    return PointStarted(index=index, t_ns=HOUR_NS)


def test_nothing_is_said_where_nothing_was_asked(unanswered: Unanswered) -> None:
    assert unanswered.answers("gone") == []


def test_points_in_flight_fail_with_the_reason_and_then_the_sweep_ends(unanswered: Unanswered) -> None:
    unanswered.asked(RunPlan(plan=plan()))
    for index in range(4):
        unanswered.heard(started(index))
    unanswered.heard(PointMeasured(index=1, t_ns=HOUR_NS, samples=()))
    unanswered.heard(PointFailed(index=2, t_ns=HOUR_NS, status="oom", reason="full"))
    *points, last = unanswered.answers("gone")
    assert [(one.index, one.status, one.reason) for one in points if isinstance(one, PointFailed)] == [
        (0, "failed", "gone"),
        (3, "failed", "gone"),
    ]
    assert isinstance(last, PlanFinished)
    assert (last.outcome, last.reason) == ("failed", "gone")
    assert unanswered.answers("gone") == []


def test_the_end_is_told_by_the_clock_of_the_machine_that_measured(unanswered: Unanswered) -> None:
    unanswered.asked(RunPlan(plan=plan()))
    unanswered.heard(started(0))
    for event in unanswered.answers("gone"):
        assert isinstance(event, PointFailed | PlanFinished)
        assert 0 <= event.t_ns - HOUR_NS < HOUR_NS


def test_a_request_without_an_answer_fails_and_telemetry_ends(unanswered: Unanswered) -> None:
    unanswered.asked(ProbeMachine())
    unanswered.asked(WatchBackend(backend="cpu"))
    told = [RequestFailed(request="probe", reason="gone"), RequestFailed(request="watch", reason="gone")]
    assert unanswered.answers("gone") == told


def test_what_is_watched_is_told_of_once_however_often_it_was_asked_for(unanswered: Unanswered) -> None:
    for _ in range(3):
        unanswered.asked(WatchBackend(backend="cpu"))
    assert unanswered.answers("gone") == [RequestFailed(request="watch", reason="gone")]


def test_a_refusal_answers_what_it_refuses_and_all_else_stays_asked_for(unanswered: Unanswered) -> None:
    asked = WatchBackend(backend="cpu"), RunPlan(plan=plan()), ProbeMachine()
    for one in asked:
        unanswered.asked(one)
    told = [unanswered.refusal(one, "no") for one in asked[1:]]
    for event in told:
        assert event is not None
        unanswered.heard(event)
    end, request = told
    assert isinstance(end, PlanFinished)
    assert (end.outcome, end.reason) == ("failed", "no")
    assert request == RequestFailed(request="probe", reason="no")
    assert unanswered.answers("gone") == [RequestFailed(request="watch", reason="gone")]


def test_a_refusal_of_what_nobody_waits_for_says_nothing(unanswered: Unanswered) -> None:
    assert unanswered.refusal(Renew(), "no") is None


def test_a_request_that_failed_by_itself_is_answered(unanswered: Unanswered) -> None:
    unanswered.asked(WatchBackend(backend="cuda"))
    unanswered.heard(RequestFailed(request="watch", reason="no GPU"))
    assert unanswered.answers("gone") == []
