"""A recording played again is the same session at every moment, however one comes there."""

from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.wire.events import (
    Attempt,
    PlanResumed,
    PlanStarted,
    PointStatus,
    Reading,
    Readings,
    TraceReady,
)
from flashscope.profiles.wire.measurement import Figure, Measurement, Sample
from tests.matrix import in_rounds
from tests.profiles.heard import Heard, quick_plan
from tests.profiles.store import builders

PLAN = Plan(
    backend="cpu",
    kernels=("standard", "flash2"),
    problems=tuple(Problem(seqlen_q=n, seqlen_k=n) for n in (64, 128)),
    protocol=Protocol(drift_check=False),
)
MACHINE = Machine(
    system="Test", python="3", devices=(Device(backend="cpu", name="a CPU", memory_bytes=1 << 30),)
)
MEASURED = Measurement(
    samples=(Sample(1.0), Sample(1.1)),
    timer="perf_counter",
    cold=True,
    figures={"input_bytes": Figure(value=1.0)},
)
START, LAST = 100, 200
MOMENTS = st.integers(START - 20, LAST + 20)
KNOWN: tuple[PointStatus, ...] = (
    "pending",
    "done",
    "failed",
    "wrong",
    "cancelled",
    "running",
    "interrupted",
)
STATUSES = st.sampled_from(KNOWN)


@st.composite
def states(draw: st.DrawFn, index: int) -> PointState:
    """A point as a file may hold it: times in any order, or none."""
    status = draw(STATUSES)
    state = PointState(PLAN.points()[index], predicted_bytes=7, status=status)
    if status != "pending":
        state.started_ns = draw(MOMENTS)
        state.sampling_ns, state.ended_ns = draw(st.none() | MOMENTS), draw(st.none() | MOMENTS)
        state.measurement = MEASURED if status == "done" else draw(st.none() | st.just(MEASURED))
    return state


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    times = draw(st.lists(MOMENTS, max_size=8))
    return Session(
        id="0" * 32,
        plan=PLAN,
        machine=MACHINE,
        started_at="2026-11-21T10:00:00+00:00",
        t0_ns=START,
        points=[draw(states(index)) for index in range(4)],
        readings=[Reading(t_ns=t) for t in draw(st.sampled_from([sorted(times), times]))],
        outcome=draw(st.sampled_from([None, "finished", "cancelled"])),
        ended_ns=draw(st.none() | MOMENTS),
        name="mine",
        note="a note",
    )


@st.composite
def attempts(draw: st.DrawFn, index: int) -> Attempt:
    began, ended = draw(st.none() | MOMENTS), draw(st.none() | MOMENTS)
    status = draw(STATUSES)
    return Attempt(index=index, status=status, reason="", detail="", started_ns=began, ended_ns=ended)


@st.composite
def resumed_sessions(draw: st.DrawFn) -> Session:
    """A session of several parts, their times and those of its points as they come."""
    session = draw(sessions())
    for number, t_ns in enumerate(sorted(draw(st.lists(MOMENTS, max_size=3))), 2):
        again, repeats = (draw(st.lists(st.sampled_from(range(4)), unique=True)) for _ in "ab")
        part = PlanResumed(
            session_id=session.id,
            part=number,
            machine=MACHINE,
            started_at=session.started_at,
            t_ns=t_ns,
            again=tuple(draw(attempts(index)) for index in again),
            repeats=tuple(repeats),
        )
        for point in PLAN.again(repeats, len(session.points)):
            session.points.append(replace(draw(states(0)), point=point))
        session.resumed.append(part)
    begun = [part.t_ns for part in session.resumed]
    for state in session.points:
        state.part = None if state.started_ns is None else bisect_right(begun, state.started_ns) + 1
    return session


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(sessions() | resumed_sessions(), st.lists(MOMENTS, max_size=5))
def test_a_session_played_to_a_moment_is_the_session_of_this_moment(
    turn: int, session: Session, stops: list[int]
) -> None:
    events = RecordedEvents(session)
    played = events.at(events.start_ns)
    for before, now in pairwise([events.start_ns, *sorted(t for t in stops if t >= events.start_ns)]):
        for event in events.between(before, now):
            played.apply(event)
        assert played == events.at(now)


@given(sessions())
def test_at_the_end_every_point_has_ended_that_began_and_every_reading_is_there(session: Session) -> None:
    events = RecordedEvents(session)
    whole = events.at(events.end_ns)
    began = [state.started_ns is not None for state in session.points]
    assert [state.status not in {"pending", "running"} for state in whole.points] == began
    assert [events.end_of(k) is not None for k in range(4)] == began
    assert sorted({events.end_of(k) for k in range(4)} - {None}) == events.ends  # type: ignore[type-var]
    assert whole.readings == session.readings
    assert whole.outcome == session.outcome or (session.outcome, whole.outcome) == (None, "failed")


@given(sessions())
def test_a_point_is_over_at_its_end_and_was_not_before(session: Session) -> None:
    events = RecordedEvents(session)
    for index in range(4):
        ended = events.end_of(index)
        if ended is not None:
            assert events.at(ended).points[index].ended_ns is not None
            if ended > events.start_ns:
                assert events.at(ended - 1).points[index].ended_ns is None


@pytest.fixture(scope="module")
def recorded() -> Session:
    """A real sweep with a failure, telemetry and a trace in it."""
    heard = Heard("tests.faults:KERNELS")
    try:
        heard.engine.watch("cpu")
        heard.until(Readings)
        heard.sweep(quick_plan("flash2", "raise", "slow", protocol=Protocol(warmup=0, repeats=10)))
        heard.engine.trace(TraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4, head_dim=16)))
        heard.until(TraceReady)
    finally:
        heard.engine.close()
    session = Session.begin(heard.all(PlanStarted)[0])
    for event in heard.events:
        session.apply(event)
    return session


def test_a_real_sweep_is_the_same_at_the_end_of_its_tape(recorded: Session) -> None:
    events = RecordedEvents(recorded)
    rebuilt = events.at(events.end_ns)
    for state in (*rebuilt.points, *recorded.points):
        state.done = state.total = 0  # progress within a point is not recorded
    assert rebuilt == recorded
    assert rebuilt.readings
    assert rebuilt.traces


def test_a_resumed_session_played_straight_through_ends_as_it_was_recorded() -> None:
    session = builders.resumed()
    events = RecordedEvents(session)
    played, moments = events.at(events.start_ns), [events.start_ns, *events.ends, events.end_ns]
    for before, now in pairwise(moments):
        for event in events.between(before, now):
            played.apply(event)
    assert played == session
    begun = session.resumed[0].t_ns
    assert [state.status for state in events.at(begun - 1).points] == [
        "done",
        "timeout",
        "running",
        "pending",
    ]
    assert [state.status for state in events.at(begun).points].count("running") == 4


def test_a_recording_whose_writer_was_killed_ends_as_failed(recorded: Session) -> None:
    torn = Session(
        recorded.id,
        recorded.plan,
        recorded.machine,
        recorded.started_at,
        recorded.t0_ns,
        [*recorded.points],
    )
    last = torn.points[-1]
    torn.points[-1] = PointState(
        last.point, last.predicted_bytes, status="interrupted", started_ns=recorded.t0_ns + 1
    )
    events = RecordedEvents(torn)
    whole = events.at(events.end_ns)
    assert whole.outcome == "failed"
    assert whole.points[-1].status == "interrupted"
    assert "interrupted" in whole.points[-1].reason
