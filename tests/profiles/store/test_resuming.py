"""Another part of a session in its file: what was there stays, what was broken off is measured anew."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from flashscope.profiles.results.formats.export import to_csv, to_json
from flashscope.profiles.results.model.parts import failed_before, parts
from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.store import (
    BusyFileError,
    CorruptFileError,
    Recorder,
    SessionFileError,
    TakenFileError,
    check_resumable,
    list_sessions,
    load,
    migrations,
)
from flashscope.profiles.store.parts import _digest
from flashscope.profiles.store.schema import VERSION
from flashscope.profiles.wire.events import (
    CeilingsMeasured,
    Event,
    PlanFinished,
    PlanResumed,
    PointFailed,
    PointMeasured,
    PointStarted,
)
from tests.matrix import chosen
from tests.profiles.sessions import session_of
from tests.profiles.store import builders
from tests.profiles.store.mutations import mutate

LATER = 10**12


def begin(path: Path) -> PlanResumed:
    return remaining_of(load(path)).begin(builders.MACHINE, builders.TELEMETRY)


def rest_of_the_sweep(path: Path) -> list[Event]:
    return builders.next_part(load(path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return builders.recorded(tmp_path / "a.flashscope", *builders.first_part())


def test_a_part_added_to_a_file_is_read_as_the_events_made_it(path: Path) -> None:
    before = load(path)
    events = rest_of_the_sweep(path)
    session = session_of([*builders.first_part(), *events])
    builders.recorded(path, *events)
    found = load(path)
    assert found == session
    assert found.points[0] == before.points[0]
    assert [state.part for state in found.points] == [1, 2, 2, 2, 2]
    assert {state.altered for state in found.points} == {False}
    assert (found.outcome, found.resumed[0].outcome) == ("finished", None)
    assert [len(state.measurement.samples) for state in found.points if state.measurement] == [3] * 5
    assert [(one.index, one.status) for one in found.resumed[0].again] == [(1, "timeout"), (2, "interrupted")]


def test_each_part_keeps_what_its_device_reached(path: Path) -> None:
    assert load(path).ceilings == {}
    begin, *others = rest_of_the_sweep(path)
    builders.recorded(path, begin, CeilingsMeasured(ceilings=builders.CEILINGS), *others)
    found = load(path)
    assert found.ceilings == {2: builders.CEILINGS}
    assert RecordedEvents(found).at(found.ended_ns or 0).ceilings == found.ceilings


def test_parts_follow_one_another_until_the_plan_is_finished(path: Path) -> None:
    for part in range(2, 6):
        builders.recorded(path, *rest_of_the_sweep(path)[: -4 if part < 5 else None][:3])
    assert [one.part for one in load(path).resumed] == [2, 3, 4, 5]
    builders.recorded(path, *rest_of_the_sweep(path))
    found = load(path)
    assert {state.status for state in found.planned} == {"done"}
    assert remaining_of(found).nothing
    assert not list_sessions(path.parent)[0].unfinished


def cancelled_early(path: Path) -> list[Event]:
    """A next part that is cancelled while it repeats a point: none of what is left has started."""
    begun, started, *_ = rest_of_the_sweep(path)
    assert isinstance(begun, PlanResumed)
    assert isinstance(started, PointStarted)
    t_ns = started.t_ns + 1
    failed = PointFailed(index=started.index, t_ns=t_ns, status="cancelled", reason="It was cancelled.")
    return [begun, started, failed, PlanFinished(t_ns=t_ns, outcome="cancelled")]


def test_points_that_a_cancelled_part_did_not_get_to_stay_as_they_had_ended_and_are_resumed(
    path: Path,
) -> None:
    before = load(path)
    events = cancelled_early(path)
    builders.recorded(path, *events)
    found = load(path)
    assert found.planned == before.planned
    assert found == session_of([*builders.first_part(), *events])
    assert remaining_of(found).left == remaining_of(before).left == {1, 2, 3}
    builders.recorded(path, *rest_of_the_sweep(path))
    assert [(state.status, state.part) for state in load(path).planned] == [("done", 1), *[("done", 3)] * 3]


def test_a_point_that_starts_anew_has_nothing_of_its_earlier_measurement(path: Path) -> None:
    begun = begin(path)
    builders.recorded(path, begun, PointStarted(index=1, t_ns=begun.t_ns))
    anew = load(path).points[1]
    assert (anew.status, anew.part, anew.started_ns) == ("interrupted", 2, begun.t_ns)
    assert (anew.measurement, anew.sampling_ns, anew.ended_ns, anew.detail) == (None, None, None, "")


def test_a_replay_shows_points_that_a_cancelled_part_did_not_get_to_as_they_had_ended(path: Path) -> None:
    builders.recorded(path, *cancelled_early(path))
    found = load(path)
    tape, begun = RecordedEvents(found), found.resumed[0].t_ns
    assert [state.status for state in found.planned] == ["done", "timeout", "interrupted", "pending"]
    for moment in (begun - 1, begun, tape.end_ns):
        assert [state.status for state in tape.at(moment).planned] == [s.status for s in found.planned]
    starts = [event.index for event in tape.all_events() if isinstance(event, PointStarted)]
    assert starts == [0, 1, 2, 4]


def test_an_earlier_failure_is_told_of_the_part_that_measured_the_point_anew(path: Path) -> None:
    builders.recorded(path, *cancelled_early(path))
    assert told(path) == [[], []]
    builders.recorded(path, *rest_of_the_sweep(path))
    (first, second, third) = told(path)
    assert (first, second, len(third)) == ([], [], 1)
    assert "measured anew; timeout before: Too slow." in third[0]


def told(path: Path) -> list[list[str]]:
    session = load(path)
    return [failed_before(session, part) for part in parts(session)]


def test_the_list_tells_what_is_unfinished(path: Path) -> None:
    assert list_sessions(path.parent)[0].unfinished


def test_a_look_whether_a_file_can_go_on_leaves_it_as_it_is(path: Path) -> None:
    before = path.read_bytes()
    check_resumable(path)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_being_recorded_is_named_and_left_alone(path: Path) -> None:
    started = begin(path)
    first = Recorder(path)
    first.record(started)
    with pytest.raises(BusyFileError, match="being recorded"):
        check_resumable(path)
    with pytest.raises(TakenFileError, match="being recorded"):
        Recorder(path).record(started)
    first.close()
    assert len(load(path).resumed) == 1


def test_of_two_who_go_on_with_one_session_the_second_is_told(path: Path) -> None:
    first, second = begin(path), begin(path)
    builders.recorded(path, first)
    before = path.read_bytes()
    with pytest.raises(TakenFileError, match="has gone on elsewhere"):
        Recorder(path).record(second)
    assert path.read_bytes() == before


def test_another_session_in_its_place_is_left_alone(path: Path) -> None:
    started = begin(path)
    with pytest.raises(TakenFileError, match="has gone on elsewhere"):
        Recorder(path).record(msgspec.structs.replace(started, session_id="another"))


def test_a_file_that_is_gone_is_said_and_none_is_made(path: Path) -> None:
    started = begin(path)
    path.unlink()
    with pytest.raises(SessionFileError, match="cannot be used"):
        Recorder(path).record(started)
    assert not path.exists()


def older(path: Path) -> None:
    """Make it a file of the version before there were parts."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table in ("traffic", "parts", "ceilings", "timelines", "stall_profiles", "landscapes", "audits"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP TABLE backward_traces")
        connection.execute("DROP TABLE point_devices")
        connection.execute("DROP TABLE ranks")
        for column in ("tags", "bookmarks", "run_mark", "others"):
            connection.execute(f"ALTER TABLE session DROP COLUMN {column}")
        for column in ("sm_share", "tensor_share", "dram_share", "device"):
            connection.execute(f"ALTER TABLE readings DROP COLUMN {column}")
        connection.execute("PRAGMA user_version = 7")


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_a_file_of_an_older_version_is_brought_up_to_date_only_with_its_next_part(path: Path) -> None:
    older(path)
    before = path.read_bytes()
    events = rest_of_the_sweep(path)
    check_resumable(path)
    assert path.read_bytes() == before
    with pytest.raises(TakenFileError):
        Recorder(path).record(msgspec.structs.replace(events[0], part=9))
    assert (path.read_bytes(), version_of(path)) == (before, 7)
    builders.recorded(path, *events)
    assert version_of(path) == VERSION
    assert load(path) == session_of([*builders.first_part(), *events])


ALTERED = {
    "when it began": ("UPDATE parts SET resumed = json_set(resumed, '$.t_ns', 1)", False),
    "its number": ("UPDATE parts SET part = 3", False),
    "a part less": ("DELETE FROM parts", False),
    "no such repeat": ("UPDATE parts SET resumed = json_set(resumed, '$.repeats', json('[99]'))", True),
    "a repeat before all": ("UPDATE parts SET resumed = json_set(resumed, '$.repeats', json('[-1]'))", True),
    "no such point": ("UPDATE parts SET resumed = json_set(resumed, '$.again[0].index', 4)", True),
    "it began before": ("UPDATE parts SET resumed = json_set(resumed, '$.t_ns', 1000000000000000)", True),
    "nonsense": ("UPDATE parts SET resumed = '[[[[['", True),
}


@pytest.mark.parametrize(("statement", "sealed"), ALTERED.values(), ids=list(ALTERED))
def test_parts_that_are_not_as_written_or_cannot_be_are_refused(
    path: Path, statement: str, sealed: bool
) -> None:
    builders.recorded(path, *rest_of_the_sweep(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
        if sealed:  # by somebody who knows how
            connection.create_function("seal", 2, _digest)
            connection.execute("UPDATE parts SET digest = seal(part, resumed)")
    with pytest.raises(CorruptFileError, match="holds values that no session holds"):
        load(path)


@chosen("turn", range(4), {0})
def test_a_mutated_file_of_several_parts_is_read_and_replayed_or_refused(
    path: Path, tmp_path: Path, turn: int
) -> None:
    builders.recorded(path, *rest_of_the_sweep(path)[:5])
    builders.recorded(path, *rest_of_the_sweep(path))
    seeds = range(50 * turn, 50 * (turn + 1))
    outcomes = [replayed(path, tmp_path / f"{seed}.flashscope", seed) for seed in seeds]
    assert 5 < sum(outcomes) < 50


def replayed(path: Path, target: Path, seed: int) -> bool:
    """Whether a mutated copy is still read; then it can be replayed and told."""
    mutate(path, target, seed)
    try:
        session = load(target)
    except SessionFileError:
        return False
    tape = RecordedEvents(session)
    again = tape.at(tape.end_ns)
    assert [state.point for state in again.points] == [state.point for state in session.points]
    assert to_json(session)
    assert to_csv(session)
    return True


def full_at(pages: int) -> Callable[[sqlite3.Connection], None]:
    def migrate(connection: sqlite3.Connection) -> None:
        (held,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {held + pages}")
        migrations.migrate(connection)

    return migrate


@chosen("pages", range(12), {6})
def test_a_disk_that_fills_up_in_a_later_part_costs_nothing_acknowledged(
    tmp_path: Path, pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = builders.plan(seqlens=tuple(range(1, 21)), kernels=("flash2",))
    before: list[Event] = [builders.plan_started(plan)]
    for index in range(8):
        before += [PointStarted(index=index, t_ns=1_000 + index), *builders.measured(index, 1_500)]
    before.append(PointStarted(index=8, t_ns=2_000))
    path = builders.recorded(tmp_path / "a.flashscope", *before)
    kept = load(path).points[:8]
    monkeypatch.setattr("flashscope.profiles.store.resuming.migrate", full_at(pages))
    recorder = Recorder(path)
    many = builders.measurement(builders.MEASUREMENT.samples * 100)
    rest = remaining_of(load(path))
    events: list[Event] = [rest.begin(builders.MACHINE, None)]
    for point in (point for group in rest.groups(plan) for point in group):
        events += [PointStarted(index=point.index, t_ns=LATER), *builders.measured(point.index, LATER, many)]
    refused = [refusal(recorder, event) for event in events]
    assert any(refused)
    assert all("disk is full" in text for text in refused if text)
    found = load(path).points
    assert found[:8] == kept
    for event, text in zip(events, refused, strict=True):
        if isinstance(event, PointMeasured) and not text:
            assert found[event.index].status == "done"
            assert found[event.index].measurement == many
    if recorder._connection is not None:
        recorder._connection.execute("PRAGMA max_page_count = 100000")
    else:
        monkeypatch.setattr("flashscope.profiles.store.resuming.migrate", migrations.migrate)
    recorder.close()
    assert {state.status for state in load(path).points} == {"done"}


def refusal(recorder: Recorder, event: Event) -> str:
    try:
        recorder.record(event)
    except SessionFileError as error:
        return str(error)
    return ""


def test_killing_the_writer_of_a_later_part_loses_nothing_it_had_acknowledged(path: Path) -> None:
    kept = load(path).points[0]
    script = (
        "import sys, time, pathlib\n"
        "from flashscope.profiles.store import Recorder\n"
        "from tests.profiles.store.test_resuming import rest_of_the_sweep\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "recorder = Recorder(path)\n"
        "for event in rest_of_the_sweep(path)[:-3]:\n"
        "    recorder.record(event)\n"
        "    print(type(event).__name__, getattr(event, 'index', ''), flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [process.stdout.readline().split() for _ in range(len(rest_of_the_sweep(path)) - 3)]
        process.kill()
    found = load(path)
    assert found.points[0] == kept
    done = [int(words[1]) for words in told if words[0] == "PointMeasured"]
    assert done
    assert all(found.points[index].status == "done" for index in done)
    assert found.points[3].status == "interrupted"
