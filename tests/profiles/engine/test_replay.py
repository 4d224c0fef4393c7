"""A recording replayed is the same session again."""

import time
from collections.abc import Callable, Iterator
from math import inf
from queue import Queue

import pytest

from kernels.problem import Problem
from kernels.trace import TraceRequest
from profiles.engine.contract import EngineBusyError
from profiles.engine.replay import ReplayEngine
from profiles.plan.plan import Protocol
from profiles.results.session import Session
from profiles.wire.events import (
    Event,
    MachineFound,
    PlanFinished,
    PlanStarted,
    PointFailed,
    PointStarted,
    Readings,
    RequestFailed,
    TraceReady,
)
from tests.profiles.heard import PATIENCE_S, Heard, quick_plan

Start = Callable[[float], tuple[ReplayEngine, Queue[Event]]]


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


@pytest.fixture
def start(recorded: Session) -> Iterator[Start]:
    """Replay engines of the recording, closed in the end."""
    engines = []

    def make(speed: float) -> tuple[ReplayEngine, Queue[Event]]:
        said: Queue[Event] = Queue()
        engines.append(ReplayEngine(said.put, recorded, speed))
        return engines[-1], said

    yield make
    for engine in engines:
        engine.close()


def until_finished(said: "Queue[Event]") -> list[Event]:
    events = [said.get(timeout=PATIENCE_S)]
    while not isinstance(events[-1], PlanFinished):
        events.append(said.get(timeout=PATIENCE_S))
    return events


def test_a_replay_rebuilds_the_session_it_was_made_from(start: Start, recorded: Session) -> None:
    engine, said = start(inf)
    engine.run(recorded.plan)
    opening, *rest = until_finished(said)
    assert isinstance(opening, PlanStarted)
    rebuilt = Session.begin(opening)
    for event in rest:
        rebuilt.apply(event)
    for state in (*rebuilt.points, *recorded.points):
        state.done = state.total = 0  # progress within a point is not recorded
    assert rebuilt == recorded
    assert rebuilt.readings


def test_a_replay_keeps_the_recorded_pace(start: Start, recorded: Session) -> None:
    engine, said = start(2.0)
    begun = time.monotonic()
    engine.run(recorded.plan)
    until_finished(said)
    assert recorded.ended_ns is not None
    assert time.monotonic() - begun >= (recorded.ended_ns - recorded.t0_ns) / 1e9 / 2.0


def test_cancelling_a_replay_ends_the_point_in_flight(start: Start, recorded: Session) -> None:
    engine, said = start(0.001)
    engine.run(recorded.plan)
    opening = said.get(timeout=PATIENCE_S)
    assert isinstance(opening, PlanStarted)
    engine.cancel()
    events = until_finished(said)
    started = {e.index for e in events if isinstance(e, PointStarted)}
    ended = {e.index for e in events if isinstance(e, PointFailed)}
    assert started == ended
    assert isinstance(events[-1], PlanFinished)
    assert events[-1].outcome == "cancelled"


def test_a_replay_can_be_run_again_but_not_twice_at_once(start: Start, recorded: Session) -> None:
    engine, said = start(0.001)
    engine.run(recorded.plan)
    with pytest.raises(EngineBusyError):
        engine.run(recorded.plan)
    engine.cancel()
    until_finished(said)
    engine.run(recorded.plan)


def test_a_replay_answers_for_the_machine_that_recorded(start: Start, recorded: Session) -> None:
    engine, said = start(inf)
    engine.probe()
    assert said.get(timeout=PATIENCE_S) == MachineFound(machine=recorded.machine)
    engine.watch("cuda")
    refusal = said.get(timeout=PATIENCE_S)
    assert isinstance(refusal, RequestFailed)
    assert refusal.request == "watch"


def test_only_recorded_traces_are_answered(start: Start, recorded: Session) -> None:
    engine, said = start(inf)
    engine.trace(recorded.traces[0].request)
    assert said.get(timeout=PATIENCE_S) == TraceReady(trace=recorded.traces[0])
    engine.trace(TraceRequest(problem=Problem(seqlen_q=5, seqlen_k=5)))
    assert isinstance(said.get(timeout=PATIENCE_S), RequestFailed)


def test_a_recording_whose_writer_was_killed_ends_as_failed(recorded: Session) -> None:
    torn = Session(
        recorded.id,
        recorded.plan,
        recorded.machine,
        recorded.started_at,
        recorded.t0_ns,
        [*recorded.points],
    )
    state = type(torn.points[-1])(torn.points[-1].point, torn.points[-1].predicted_bytes)
    state.status, state.started_ns = "interrupted", recorded.t0_ns + 1
    torn.points[-1] = state
    said: Queue[Event] = Queue()
    engine = ReplayEngine(said.put, torn, inf)
    engine.run(torn.plan)
    events = until_finished(said)
    engine.close()
    assert isinstance(events[-1], PlanFinished)
    assert events[-1].outcome == "failed"
    assert any(isinstance(e, PointFailed) and e.index == 2 and "interrupted" in e.reason for e in events)


def test_a_speed_must_be_above_zero(recorded: Session) -> None:
    with pytest.raises(ValueError, match="above 0"):
        ReplayEngine(lambda _: None, recorded, 0.0)


def test_a_recording_that_cannot_be_played_ends_its_replay_with_the_reason(
    start: Start, recorded: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, said = start(inf)
    with monkeypatch.context() as patch:
        patch.setattr("profiles.engine.replay.script", lambda _: 1 // 0)
        engine.run(recorded.plan)
        finished = said.get(timeout=PATIENCE_S)
    assert isinstance(finished, PlanFinished)
    assert finished.outcome == "failed"
    assert "division" in finished.reason
    engine.run(recorded.plan)  # it is not busy
    assert isinstance(said.get(timeout=PATIENCE_S), PlanStarted)
