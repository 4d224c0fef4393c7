"""An engine goes on with what is left of a plan."""

import time

import pytest

from flashscope.profiles.results.model.parts import parts
from flashscope.profiles.results.model.remaining import PAUSE_NS, remaining_of
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import PlanFinished, PlanResumed, PointMeasured
from tests.profiles.heard import QUICK, Heard, done, quick_plan


def resumed(heard: Heard, session: Session) -> Session:
    """The session once an engine has run what was left of it."""
    heard.engine.run(session.plan, remaining_of(session))
    heard.until(PlanResumed)
    start = len(heard.events)
    heard.until(PlanFinished)
    for event in heard.events[start - 1 :]:
        session.apply(event)
    return session


@pytest.mark.matrix
def test_points_that_crashed_are_tried_again_and_answered_ones_are_not(heard: Heard) -> None:
    plan = quick_plan("kill-itself", "wrong", "flash2", seqlens=(64, 96))
    heard.sweep(plan)
    session = heard.session()
    before = [state.measurement for state in session.points]
    resumed(heard, session)
    statuses = [state.status for state in session.planned]
    assert statuses == ["failed", "wrong", "done"] * 2
    assert [state.part for state in session.planned] == [2, 1, 1] * 2
    assert [state.measurement for state in session.planned][1:3] == before[1:3]
    _, second = parts(session)
    assert [(one.index, one.status) for one in second.again] == [(0, "failed"), (3, "failed")]
    assert all("killed by SIGKILL" in one.reason for one in second.again)
    assert [(drift.kernel, drift.seqlen) for drift in second.drifts] == [("flash2", 64)]


def test_a_cancelled_sweep_goes_on_in_its_order_by_the_sessions_clock(heard: Heard) -> None:
    plan = quick_plan("slow", "flash2", seqlens=(32, 64, 96))
    heard.engine.watch("cpu")
    heard.engine.run(plan)
    heard.until(PointMeasured)
    heard.engine.cancel()
    heard.until(PlanFinished)
    session = heard.session()
    session.t0_ns += 3600 * 10**9  # as if it had been measured by a clock an hour ahead
    for state in session.points:
        if state.ended_ns is not None:
            state.ended_ns += 3600 * 10**9
    last = max(state.ended_ns or 0 for state in session.points)
    session.readings, session.ended_ns = [], last
    resumed(heard, session)
    begun = heard.all(PlanResumed)[-1]
    assert begun.t_ns == last + PAUSE_NS
    assert session.outcome == "finished"
    for state in session.points:
        done(state)
    again = [state for state in session.points if state.part == 2]
    started = [state.started_ns or 0 for state in again]
    assert all(begun.t_ns <= moment < begun.t_ns + 120 * 10**9 for moment in started)
    assert all(last < reading.t_ns for reading in session.readings)
    samples = [one for state in again if state.measurement for one in state.measurement.samples]
    assert all(one.t_ns is not None and one.t_ns >= begun.t_ns for one in samples)


def test_the_clock_of_a_fresh_sweep_is_the_machines_own_again(heard: Heard) -> None:
    plan = quick_plan("flash2", seqlens=(32, 64))
    heard.sweep(plan)
    session = heard.session()
    session.points[1].status, session.points[1].ended_ns = "cancelled", 10**18
    resumed(heard, session)
    now = time.monotonic_ns()
    (point, *_) = heard.sweep(plan)
    assert point.started_ns is not None
    assert now <= point.started_ns <= time.monotonic_ns()


def test_a_session_that_lacks_its_end_alone_gets_it(heard: Heard) -> None:
    plan = quick_plan("flash2")
    heard.sweep(plan)
    session = heard.session()
    session.outcome = None
    resumed(heard, session)
    again = parts(session)[1]
    assert (again.outcome, again.points, len(session.points)) == ("finished", 0, 1)


def test_repeats_are_measured_as_the_drift_check_is(heard: Heard) -> None:
    plan = quick_plan("flash2", seqlens=(32, 64))
    assert QUICK.interleave
    heard.sweep(plan)
    session = heard.session()
    session.points[1].status = "interrupted"
    resumed(heard, session)
    assert [state.point.problem.seqlen_q for state in session.points] == [32, 64, 32]
