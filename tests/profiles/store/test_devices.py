"""Sessions of several devices: what their files hold of each."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import Recorder, load
from flashscope.profiles.store.migrations.v027_devices import keep_devices
from flashscope.profiles.wire.events import Event, PlanStarted, PointStarted, Readings
from tests.profiles.sessions import MACHINE, make_plan, script
from tests.profiles.store import builders

PLAN = make_plan(("standard", "flash2"))
OTHER = replace(MACHINE, system="Debian 13")


def on_two_devices() -> list[Event]:
    """A sweep whose every other problem is measured on a second device, with its own telemetry."""
    events: list[Event] = []
    device = 0
    for event in script(PLAN):
        match event:
            case PlanStarted():
                events.append(replace(event, others=(OTHER,)))
            case PointStarted(index=index):
                device = index // len(PLAN.kernels) % 2
                events.append(replace(event, device=device))
            case Readings():
                events.append(replace(event, device=device))
            case _:
                events.append(event)
    return events


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.flashscope"
    recorder = Recorder(path)
    for event in on_two_devices():
        recorder.record(event)
    recorder.close()
    return path


def test_points_and_readings_keep_their_devices_and_the_session_who_these_are(path: Path) -> None:
    events = on_two_devices()
    opening = next(event for event in events if isinstance(event, PlanStarted))
    live = Session.begin(opening)
    for event in events:
        live.apply(event)
    session = load(path)
    assert [one.device for one in session.points] == [0, 0, 1, 1, 0, 0, 1, 1]
    assert session.machines(1) == (MACHINE, OTHER)
    assert session.machine_of(session.points[2]) == OTHER
    assert (session.readings, session.beside) == (live.readings, live.beside)
    assert session.beside[1]
    assert session == live


def test_a_replay_tells_the_devices_again(path: Path) -> None:
    session = load(path)
    opening, *events = RecordedEvents(session).all_events()
    assert isinstance(opening, PlanStarted)
    again = Session.begin(opening)
    for event in events:
        again.apply(event)
    assert [one.device for one in again.points] == [one.device for one in session.points]
    assert (again.others, again.readings, again.beside) == (
        session.others,
        session.readings,
        session.beside,
    )


@pytest.mark.parametrize(
    ("statement", "altered"),
    [
        ("UPDATE point_devices SET device = 2 WHERE point = 2", "point"),
        ("DELETE FROM point_devices WHERE point = 2", "point"),
        ("UPDATE readings SET device = NULL", "readings"),
    ],
)
def test_a_device_that_was_altered_is_found(path: Path, statement: str, altered: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    session = load(path)
    if altered == "point":
        assert [one.point.index for one in session.points if one.status == "altered"] == [2]
    else:
        assert "reading" in session.altered


def test_a_file_from_before_there_were_several_devices_opens_as_one_of_one_device(tmp_path: Path) -> None:
    path = tmp_path / "old.flashscope"
    recorder = Recorder(path)
    for event in script(PLAN):
        recorder.record(event)
    recorder.close()
    before = load(path)
    builders.make_older(path, keep_devices)
    with closing(sqlite3.connect(path)) as connection:
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'point_devices'").fetchall()
    session = load(path)
    assert session == before
    assert {one.device for one in session.points} == {0}
    assert not session.altered
