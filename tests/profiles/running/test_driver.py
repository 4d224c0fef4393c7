"""One driver of runs: sessions begin, go on and end by what an engine says, in memory and in files."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue

import pytest

from flashscope.profiles.engine.contract import EngineBusyError
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.driver import Driver, OpenRecording
from flashscope.profiles.running.recording import (
    BackgroundRecording,
    FileMade,
    FileNote,
    FileTrouble,
    RunRecording,
)
from flashscope.profiles.store import Recorder, TakenFileError, load
from flashscope.profiles.wire.events import Event, LogLine, PlanFinished, PointMeasured
from tests.app.fakes import PLAN, FakeEngine, reading, sweep
from tests.profiles.heard import quick_plan
from tests.profiles.sessions import session_of
from tests.profiles.store import builders
from tests.profiles.store.builders import recorded

PATIENCE_S = 120.0
SWEEP = sweep()


class Seat:
    """Who drives: has the queue of what is told, and takes it in.

    Attributes:
        told: What the engine and the recordings said.
        driver: Drives a scripted engine.
        engine: That engine.
    """

    def __init__(self) -> None:
        self.told: SimpleQueue[Event | FileNote] = SimpleQueue()
        made: list[FakeEngine] = []

        def make(sink: object) -> FakeEngine:
            made.append(FakeEngine(self.told.put))
            return made[0]

        self.driver = Driver(make, self.told.put)
        self.engine = made[0]

    def take_all(self) -> None:
        """Take in what has been told until now."""
        while not self.told.empty():
            self.driver.take(self.told.get())

    def say(self, events: Sequence[Event]) -> None:
        """Let the engine say these, and take them in."""
        self.engine.say(events)
        self.take_all()

    def into(self, path: Path, *, numbered: bool = False) -> OpenRecording:
        """What records in this file, at once."""
        return lambda _event: RunRecording(Recorder(path, numbered=numbered), self.told.put)


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Seat]:
    """Before the folder of its files goes, it has written them."""
    seat = Seat()
    yield seat
    seat.driver.close()
    seat.driver.wait()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.flashscope"


def saved(events: Sequence[Event]) -> Session:
    """The session that these events make."""
    return session_of(events)


def test_a_run_is_a_session_in_memory_and_the_same_in_its_file(seat: Seat, path: Path) -> None:
    seat.driver.run(PLAN, seat.into(path))
    assert (seat.driver.running, seat.driver.session) == (True, None)
    seat.say(SWEEP)
    assert not seat.driver.running
    assert seat.driver.session == saved(SWEEP) == load(path)
    assert seat.driver.recording is not None
    assert (seat.driver.recording.path, seat.driver.recording.finished) == (path, True)


def test_a_run_that_nobody_records_is_a_session_all_the_same(seat: Seat, tmp_path: Path) -> None:
    seat.driver.run(PLAN)
    seat.say(SWEEP)
    assert seat.driver.session == saved(SWEEP)
    assert seat.driver.recording is None
    assert not any(tmp_path.iterdir())


def test_what_is_taken_is_in_the_file_before_the_next_event_is(seat: Seat, path: Path) -> None:
    seat.driver.run(PLAN, seat.into(path))
    done = 0
    for event in SWEEP:
        seat.say([event])
        done += isinstance(event, PointMeasured)
        assert [state.status for state in load(path).points].count("done") == done


def test_what_is_said_before_a_run_between_runs_and_after_belongs_to_none(seat: Seat, path: Path) -> None:
    seat.say([reading(1)])
    seat.driver.run(PLAN, seat.into(path))
    seat.say([reading(2)])
    assert seat.driver.session is None
    seat.say(SWEEP)
    seat.say([reading(99), LogLine(source="worker", text="hello")])
    assert seat.driver.session == saved(SWEEP) == load(path)


def test_a_second_run_waits_for_the_end_of_the_first(seat: Seat, path: Path) -> None:
    seat.driver.run(PLAN)
    with pytest.raises(EngineBusyError):
        seat.driver.run(PLAN)
    seat.say(SWEEP)
    first = seat.driver.session
    seat.driver.run(PLAN, seat.into(path))
    assert seat.driver.session is None
    seat.say(sweep(points=1))
    assert seat.driver.session is not first
    assert len(seat.engine.plans) == 2


def test_an_engine_that_is_busy_leaves_nothing_running(seat: Seat) -> None:
    seat.engine.busy = True
    with pytest.raises(EngineBusyError):
        seat.driver.run(PLAN)
    assert not seat.driver.running
    seat.engine.busy = False
    seat.driver.run(PLAN)
    assert seat.driver.running


def test_a_run_is_cancelled_and_nothing_else_is(seat: Seat, path: Path) -> None:
    seat.driver.cancel()
    assert seat.engine.cancelled == 0
    seat.driver.run(PLAN, seat.into(path))
    seat.say(sweep(points=2))
    seat.driver.cancel()
    assert (seat.engine.cancelled, seat.driver.running) == (1, True)
    seat.say([PlanFinished(t_ns=9, outcome="cancelled")])
    assert not seat.driver.running
    assert (load(path).outcome, load(path).ended_points) == ("cancelled", 2)
    seat.driver.cancel()
    assert seat.engine.cancelled == 1


def test_a_session_goes_on_as_the_same_in_its_own_file(seat: Seat, path: Path) -> None:
    session = load(recorded(path, *builders.first_part()))
    rest = remaining_of(session)
    seat.driver.resume(session, rest, seat.into(path))
    assert (seat.engine.plans, seat.engine.rests) == ([session.plan], [rest])
    seat.say(builders.next_part(session))
    assert seat.driver.session is session
    assert session == load(path)
    assert (session.outcome, len(session.resumed)) == ("finished", 1)


def test_closing_in_the_middle_of_a_run_keeps_what_was_measured(seat: Seat, path: Path) -> None:
    seat.driver.run(PLAN, lambda _: BackgroundRecording(Recorder(path), seat.told.put))
    seat.engine.say(sweep(points=3))
    seat.driver.close()
    seat.take_all()
    seat.driver.wait()
    assert seat.engine.closed == 1
    assert [state.status for state in load(path).points].count("done") == 3


def test_a_run_whose_file_is_anothers_is_cancelled_and_one_whose_file_cannot_be_made_is_not(
    seat: Seat, path: Path
) -> None:
    path.write_text("mine")
    seat.driver.run(PLAN, seat.into(path.parent / "a.flashscope" / "no folder"))
    seat.say(sweep(points=1))
    assert seat.engine.cancelled == 0
    seat.say([PlanFinished(t_ns=9, outcome="cancelled")])
    seat.driver.run(PLAN, seat.into(path))
    seat.say(sweep(points=1))
    assert seat.engine.cancelled == 1
    assert path.read_text() == "mine"


def test_what_an_earlier_file_comes_to_ends_no_later_run(seat: Seat, path: Path) -> None:
    seat.driver.run(PLAN, seat.into(path))
    seat.say(SWEEP)
    seat.driver.run(PLAN, seat.into(path, numbered=True))
    seat.say(sweep(points=1))
    seat.driver.take(FileTrouble(TakenFileError("taken."), path))
    assert seat.engine.cancelled == 0


def test_who_is_told_of_a_trouble_may_raise_it_out_of_take(seat: Seat, path: Path) -> None:
    path.write_text("mine")

    def refuse(note: FileNote) -> None:
        assert isinstance(note, FileTrouble)
        raise note.error

    seat.driver.run(PLAN, lambda _: RunRecording(Recorder(path), refuse))
    with pytest.raises(TakenFileError):
        seat.say(SWEEP)
    assert path.read_text() == "mine"


def test_each_run_has_a_file_of_its_own_and_all_are_closed_at_the_end(seat: Seat, path: Path) -> None:
    for _ in range(3):
        seat.driver.run(PLAN, lambda _: BackgroundRecording(Recorder(path, numbered=True), seat.told.put))
        seat.say(SWEEP)
    seat.driver.close()
    seat.driver.wait()
    made = [seat.told.get() for _ in range(seat.told.qsize())]
    paths = {note.path for note in made if isinstance(note, FileMade)} | {*path.parent.glob("*.flashscope")}
    assert len(paths) == 3
    assert {load(one).outcome for one in paths} == {"finished"}


def test_the_engine_of_this_machine_is_driven_to_a_file(path: Path) -> None:
    told: SimpleQueue[Event] = SimpleQueue()
    notes: list[FileNote] = []
    driver = Driver(partial(LocalEngine, kernels="tests.faults:KERNELS"), told.put)
    try:
        driver.run(quick_plan("flash2", "slow"), lambda _: RunRecording(Recorder(path), notes.append))
        while driver.running:
            driver.take(told.get(timeout=PATIENCE_S))
    finally:
        driver.close()
        driver.wait()
    assert notes == [FileMade(path)]
    assert driver.session is not None
    assert [state.status for state in driver.session.points] == ["done", "done"]
    assert load(path).points == driver.session.points
