"""What the worker was at: checks of one point, then turns of several, without a gap that is nobody's."""

import pytest

from flashscope.profiles.results.model.activity import activities, seconds_by_point
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import PlanStarted, PointFailed, PointStarted, SamplingStarted
from tests.profiles.store import builders

SECOND = 1_000_000_000


def begun() -> Session:
    opening = builders.plan_started()
    assert isinstance(opening, PlanStarted)
    return Session.begin(opening)


def test_before_the_first_point_there_is_nothing() -> None:
    session = begun()
    assert activities(session) == []
    assert session.in_flight == []


def test_checks_follow_each_other_and_turns_belong_to_all_that_take_them() -> None:
    session = begun()
    session.apply(PointStarted(index=0, t_ns=1 * SECOND))
    assert [(a.kernels, a.end_ns) for a in activities(session)] == [(("standard",), None)]
    session.apply(PointStarted(index=1, t_ns=3 * SECOND))
    assert [s.point.index for s in session.in_flight] == [1]  # the other waits for its turns
    session.apply(SamplingStarted(indices=(0, 1), t_ns=4 * SECOND))
    assert [s.point.index for s in session.in_flight] == [0, 1]
    for event in builders.measured(0, 7 * SECOND):
        session.apply(event)
    assert activities(session)[-1].end_ns is None
    for event in builders.measured(1, 10 * SECOND):
        session.apply(event)
    found = [(a.kernels, a.start_ns // SECOND, (a.end_ns or 0) // SECOND) for a in activities(session)]
    both = ("standard", "flash2")
    assert found == [(("standard",), 1, 3), (("flash2",), 3, 4), (both, 4, 10)]
    assert seconds_by_point(session) == pytest.approx({0: 2 + 3, 1: 1 + 3})


def test_turns_that_were_broken_off_stay_what_was_run_then() -> None:
    session = begun()
    for index in (0, 1):
        session.apply(PointStarted(index=index, t_ns=(1 + index) * SECOND))
    session.apply(SamplingStarted(indices=(0, 1), t_ns=3 * SECOND))
    session.apply(SamplingStarted(indices=(0,), t_ns=7 * SECOND))
    assert [(a.kernels, a.start_ns // SECOND) for a in activities(session)][2:] == [
        (("standard", "flash2"), 3),
        (("standard",), 7),
    ]
    for event in builders.measured(0, 8 * SECOND):
        session.apply(event)
    session.apply(SamplingStarted(indices=(1,), t_ns=9 * SECOND))
    for event in builders.measured(1, 10 * SECOND):
        session.apply(event)
    found = [(a.kernels, a.start_ns // SECOND, (a.end_ns or 0) // SECOND) for a in activities(session)]
    both = ("standard", "flash2")
    assert found[2:] == [(both, 3, 7), (("standard",), 7, 8), (("flash2",), 9, 10)]


def test_a_check_that_fails_ends_then_and_not_when_the_next_begins() -> None:
    session = begun()
    session.apply(PointStarted(index=0, t_ns=1 * SECOND))
    session.apply(PointFailed(index=0, t_ns=2 * SECOND, status="wrong", reason="NaN."))
    session.apply(PointStarted(index=1, t_ns=5 * SECOND))
    assert [a.end_ns for a in activities(session)] == [2 * SECOND, None]
    assert seconds_by_point(session) == pytest.approx({0: 1, 1: 0})
