"""A point whose rows are not those that were written is told from the others, and has no figures."""

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from flashscope.app.commands import show
from flashscope.profiles.results.formats.export import to_csv, to_json
from flashscope.profiles.results.model.drift import drifts
from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.store import Recorder, SessionFileError, change, load, sealed_rows
from flashscope.profiles.store.digest import COLUMNS
from flashscope.profiles.store.migrations import migrate
from flashscope.profiles.wire.events import Event, TraceReady
from flashscope.profiles.wire.measurement import Sample
from tests.matrix import chosen
from tests.profiles.store import builders

CHANGED = {
    "a time": "UPDATE samples SET ms = 0.25 WHERE point = 0 AND n = 0",
    "a sample less": "DELETE FROM samples WHERE point = 0 AND n = 2",
    "a figure": "UPDATE figures SET value = 4 WHERE point = 0 AND key = 'input_bytes'",
    "a figure more": "INSERT INTO figures VALUES (0, 'energy', 1, NULL, NULL, 'me', '')",
    "a timer": "UPDATE measurements SET timer = 'a sundial' WHERE point = 0",
    "an error": "UPDATE errors SET error = 0 WHERE point = 0",
    "a verdict": "UPDATE correctness SET rows_compared = 1 WHERE point = 0",
    "a prediction": "UPDATE points SET predicted_bytes = 1 WHERE point = 0",
    "an end": "UPDATE points SET ended_ns = 9 WHERE point = 0",
    "no digest": "UPDATE points SET digest = NULL WHERE point = 0",
    "another digest": "UPDATE points SET digest = '0123456789abcdef' WHERE point = 0",
}
IMPOSSIBLE = {
    "no samples": "DELETE FROM samples WHERE point = 0",
    "no measurement": "DELETE FROM measurements WHERE point = 0",
    "a wrong output": "UPDATE correctness SET passed = 0 WHERE point = 0",
    "an error beyond its bound": "UPDATE errors SET error = 1 WHERE point = 0",
    "an error that is not a number": "UPDATE errors SET error = 'NaN' WHERE point = 0",
    "a sample of no time": "UPDATE samples SET ms = 0 WHERE point = 0 AND n = 1",
    "a sample that ended before it began": "UPDATE samples SET ms = -5 WHERE point = 0 AND n = 1",
    "a sample without end": "UPDATE samples SET ms = 9e999 WHERE point = 0 AND n = 1",
    "a sample shorter than any": "UPDATE samples SET ms = 1e-300 WHERE point = 0 AND n = 1",
    "a sample longer than any": "UPDATE samples SET ms = 1.7e308 WHERE point = 0 AND n = 1",
    "an error below 0": "UPDATE errors SET error = -1 WHERE point = 0",
    "a bound below 0": "UPDATE errors SET bound = -1e-9 WHERE point = 0",
    "a sample that is not a number": "UPDATE samples SET ms = 'NaN' WHERE point = 0 AND n = 1",
}
PAGE = 4096
NO_DIGESTS = "UPDATE points SET digest = ''"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return builders.recorded(tmp_path / "a.flashscope")


def changed(path: Path, *statements: str) -> list[PointState]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return load(path).points


def is_altered(state: PointState) -> bool:
    told = (state.status, state.altered, state.measurement)
    return told == ("altered", True, None) and "run the sweep again" in state.reason


@pytest.mark.parametrize("statement", CHANGED.values(), ids=list(CHANGED))
def test_a_change_of_any_row_of_a_point_makes_it_altered_and_no_other(path: Path, statement: str) -> None:
    before = load(path).points
    assert [state.altered for state in before] == [False] * 4
    points = changed(path, statement)
    assert is_altered(points[0])
    assert points[2:] == before[2:]


@pytest.mark.parametrize("statement", IMPOSSIBLE.values(), ids=list(IMPOSSIBLE))
def test_what_no_point_can_be_is_altered_also_where_there_are_no_digests(path: Path, statement: str) -> None:
    points = changed(path, NO_DIGESTS, statement)
    assert is_altered(points[0])
    assert [state.altered for state in points[1:]] == [None] * 3


def with_page(content: bytes, page: int, of: bytes, other: int) -> bytes:
    """The content with page `other` of another file in the place of `page`; pages count from 0."""
    return content[: page * PAGE] + of[other * PAGE : (other + 1) * PAGE] + content[(page + 1) * PAGE :]


def long_sweep() -> Iterator[Event]:
    """Six points, each of which fills several pages."""
    plan = builders.plan(seqlens=(1, 2, 3))
    yield builders.plan_started(plan)
    for point in plan.points():
        samples = tuple(Sample(1.0 + point.index + n / 1000) for n in range(400))
        yield from builders.measured(point.index, 1, builders.measurement(samples))


@chosen("swapped", [True, False], ())
def test_no_point_is_shown_with_other_figures_when_pages_are_swapped_or_duplicated(
    tmp_path: Path, swapped: bool
) -> None:
    path = tmp_path / "a.flashscope"
    recorder = Recorder(path)
    for event in long_sweep():
        recorder.record(event)
    recorder.close()
    before, whole, altered = load(path).points, path.read_bytes(), 0
    for page, other in itertools.combinations(range(1, len(whole) // PAGE), 2):
        changed = with_page(whole, page, whole, other)
        path.write_bytes(with_page(changed, other, whole, page) if swapped else changed)
        try:
            points = load(path).points
        except SessionFileError:
            continue
        for state, was in zip(points, before, strict=True):
            assert state == was or is_altered(state)
            altered += state != was
    assert altered


TELEMETRY = 40  # seconds in which each reading of a second makes a batch


def telemetry() -> list[Event]:
    """A sweep with 40 batches of 20 readings and three traces."""
    start, *others, ending = builders.whole_sweep()
    seconds = [builders.readings(*(at * 10**9 + n for n in range(20))) for at in range(1, TELEMETRY)]
    return [start, *seconds, *others, TraceReady(trace=builders.trace()), ending]


@pytest.fixture
def watched(tmp_path: Path) -> Path:
    return builders.recorded(tmp_path / "b.flashscope", *telemetry())


ALTERED = {
    "a reading": ("UPDATE readings SET power_w = 999 WHERE n = 100", "readings"),
    "a reading less": ("DELETE FROM readings WHERE n = 100", "readings"),
    "a reading more": ("INSERT INTO readings (t_ns) VALUES (7)", "1 reading"),
    "none at the end": ("DELETE FROM readings WHERE n > 700", "readings"),
    "a batch without its digest": (
        "DELETE FROM batches WHERE name = 'readings' AND last = (SELECT max(last) FROM batches)",
        "1 reading",
    ),
    "no digests": ("DELETE FROM batches", "readings and 2 traces"),
    "a trace": ("UPDATE traces SET trace = zeroblob(99) WHERE n = 1", "1 trace"),
    "the ceilings": ("UPDATE ceilings SET measured = '{}'", "1 ceiling"),
    "a trace less": ("DELETE FROM traces WHERE n = 2", "1 trace"),
    "traces in another order": ("UPDATE traces SET n = 3 - n + 10", "traces"),
}


@pytest.mark.parametrize(("statement", "what"), ALTERED.values(), ids=list(ALTERED))
def test_altered_readings_and_traces_are_left_out_and_told_and_the_others_kept(
    watched: Path, statement: str, what: str
) -> None:
    before = load(watched)
    assert before.altered == ""
    points = changed(watched, statement)
    session = load(watched)
    assert what in session.altered
    assert points == before.points
    assert all(reading in before.readings for reading in session.readings)
    assert "trace" in what or session.traces == before.traces
    assert statement == ALTERED["no digests"][0] or len(session.readings) > len(before.readings) - 120


@pytest.mark.matrix
def test_no_reading_is_shown_that_was_not_recorded_when_pages_are_swapped(watched: Path) -> None:
    before, whole, altered = load(watched), watched.read_bytes(), 0
    places = {reading.t_ns: place for place, reading in enumerate(before.readings)}
    for page, other in itertools.combinations(range(1, len(whole) // PAGE), 2):
        changed = with_page(whole, page, whole, other)
        watched.write_bytes(with_page(changed, other, whole, page))
        try:
            session = load(watched)
        except SessionFileError:
            continue
        found = [places[reading.t_ns] for reading in session.readings]
        assert found == sorted(set(found))
        assert session.readings == [before.readings[place] for place in found]
        assert session.altered or session.readings == before.readings
        altered += bool(session.altered)
    assert altered


def test_a_session_without_telemetry_and_traces_lacks_none(tmp_path: Path) -> None:
    assert load(builders.recorded(tmp_path / "b.flashscope", builders.plan_started())).altered == ""


def test_readings_are_digested_in_batches_of_a_bounded_size(tmp_path: Path) -> None:
    many = builders.readings(*range(2 * sealed_rows.MOST["readings"] + 1))
    path = builders.recorded(tmp_path / "b.flashscope", builders.plan_started(), many)
    with closing(sqlite3.connect(path)) as connection:
        ends = [last for (last,) in connection.execute("SELECT last FROM batches")]
    assert ends == [1000, 2000, 2001]
    assert len(load(path).readings) == 2001
    changed(path, "DELETE FROM batches WHERE last < 2001")
    assert (load(path).readings, load(path).altered[:13]) == ([], "2001 readings")


def test_altered_telemetry_is_told_by_every_form_of_show(
    watched: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(watched, *(statement for statement, _ in (ALTERED["a reading"], ALTERED["a trace"])))
    told = "20 readings and 1 trace"
    show.run(watched, as_json=False, as_csv=False, against=None)
    assert f"left out: {told}.\n" in capsys.readouterr().out
    session = load(watched)
    assert msgspec.json.decode(to_json(session))["session"]["altered"] == told
    assert f"# altered: {told}\n" in to_csv(session)


def test_a_point_that_has_ended_cannot_pass_as_one_that_has_not(path: Path) -> None:
    assert is_altered(changed(path, "UPDATE points SET status = 'pending' WHERE point = 0")[0])


LATER_TABLES = (
    "traffic",
    "batches",
    "parts",
    "ceilings",
    "timelines",
    "stall_profiles",
    "landscapes",
    "audits",
    "backward_traces",
    "ranks",
    "point_devices",
)


def test_a_file_from_before_there_were_digests_is_read_as_it_is_and_stays_so_when_it_is_renamed(
    path: Path,
) -> None:
    before = load(path)
    later = [("points", "digest"), ("session", "tags"), ("session", "bookmarks"), ("session", "run_mark")]
    later += [("readings", share) for share in ("sm_share", "tensor_share", "dram_share", "device")]
    later += [("session", "others")]
    dropped = [f"ALTER TABLE {table} DROP COLUMN {column}" for table, column in later]
    dropped += [f"DROP TABLE {table}" for table in LATER_TABLES]
    changed(path, *dropped, "PRAGMA user_version = 5")
    with closing(sqlite3.connect(path)) as connection:
        text = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'points'").fetchone()
    assert "digest" not in text[0]
    for _ in range(2):
        session = load(path)
        assert [state.altered for state in session.points] == [None] * 4
        assert [state.measurement for state in session.points] == [s.measurement for s in before.points]
        assert (session.readings, session.traces, session.altered) == (before.readings, before.traces, "")
        change(path, "name", "another name")


def test_every_column_of_what_was_measured_is_digested() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        found = {
            table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")} for table in tables
        }
    of_points = {table: names - {"digest"} for table, names in found.items() if "point" in names}
    assert {table: set(names) for table, names in COLUMNS.items()} == of_points
    assert {table: set(names) for table, names in sealed_rows.COLUMNS.items()} == {
        table: found[table] for table in ("readings", "traces", "ceilings", *LATER_TABLES[4:-1])
    }


@pytest.fixture
def altered(path: Path) -> Path:
    changed(path, CHANGED["a time"])
    return path


def test_an_altered_point_is_never_counted(altered: Path) -> None:
    session = load(altered)
    row = rows(session)[0]
    assert (row.done, row.times, row.measured("input_bytes")) == (False, None, None)
    assert drifts(session) == []
    tape = RecordedEvents(session)
    events = tape.between(tape.start_ns - 1, tape.end_ns)
    assert events
    assert "PointMeasured" not in {type(event).__name__ for event in events}


def test_an_altered_point_is_told_by_every_form_of_show(
    altered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show.run(altered, as_json=False, as_csv=False, against=None)
    printed = capsys.readouterr().out
    assert "altered" in printed
    assert "are not those that were measured" in printed
    assert "ms" not in printed.split("standard", 1)[1].splitlines()[0]
    points = msgspec.json.decode(to_json(load(altered)))["points"]
    assert [point["altered"] for point in points] == [True, False, False, False]
    assert (points[0]["status"], points[0]["runtime_ms_median"]) == ("altered", None)
    assert "input_bytes" not in points[0]["figures"]
    assert ",altered," in to_csv(load(altered))
