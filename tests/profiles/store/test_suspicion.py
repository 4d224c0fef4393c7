"""Files from elsewhere: foreign, damaged, hostile, newer, older. Each is explained, none is executed."""

import json
import os
import sqlite3
import sys
from pathlib import Path

import msgspec
import pytest

from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import (
    CorruptFileError,
    EmptyFileError,
    ForeignFileError,
    NewerFileError,
    SessionFileError,
    change,
    load,
    migrations,
    opening,
)
from flashscope.profiles.store.schema import MAX_VALUE_BYTES
from flashscope.profiles.wire.measurement import OutputError, Sample
from tests.profiles.store import builders


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return builders.recorded(tmp_path / "a.flashscope")


def tamper(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_missing_file_is_named_and_not_created(tmp_path: Path) -> None:
    with pytest.raises(SessionFileError, match="No such file"):
        load(tmp_path / "none.flashscope")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    with pytest.raises(SessionFileError, match="is a folder"):
        load(tmp_path)


def test_an_empty_file_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.flashscope").touch()
    with pytest.raises(EmptyFileError, match="is empty"):
        load(tmp_path / "a.flashscope")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.flashscope")
    with pytest.raises(ForeignFileError, match="not a plain file"):
        load(tmp_path / "a.flashscope")


def test_text_is_foreign(tmp_path: Path) -> None:
    (tmp_path / "a.flashscope").write_text("kernel,seqlen\n" * 100)
    with pytest.raises(ForeignFileError, match="not a Flashscope session"):
        load(tmp_path / "a.flashscope")


def test_another_programs_database_is_foreign(tmp_path: Path) -> None:
    tamper(tmp_path / "a.flashscope", "CREATE TABLE bookmarks (url)")
    with pytest.raises(ForeignFileError, match="another program"):
        load(tmp_path / "a.flashscope")


def test_another_application_id_is_foreign(path: Path) -> None:
    tamper(path, "PRAGMA application_id = 7")
    with pytest.raises(ForeignFileError):
        load(path)


def test_a_newer_file_is_refused_with_its_version(path: Path) -> None:
    tamper(path, "PRAGMA user_version = 99")
    with pytest.raises(NewerFileError, match="format version 99"):
        load(path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE extra (x)",
        "CREATE VIEW v AS SELECT load_extension('evil')",
        "CREATE TRIGGER t AFTER UPDATE ON session BEGIN DELETE FROM points; END",
        "CREATE INDEX i ON points (upper(kernel))",
        "ALTER TABLE session ADD COLUMN x TEXT",
        "CREATE TABLE more (x TEXT DEFAULT (hex(randomblob(9))))",
        "DROP TABLE traces",
        "ANALYZE",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = -5",
    ],
)
def test_a_file_that_defines_anything_else_is_refused(path: Path, statement: str) -> None:
    tamper(path, statement)
    with pytest.raises(CorruptFileError):
        load(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE points SET status = 'excellent'",
        "UPDATE points SET predicted_bytes = -1",
        "UPDATE points SET predicted_bytes = 'many'",
        "UPDATE points SET problem = '{}'",
        """UPDATE points SET problem = '{"seqlen_q": 0, "seqlen_k": 1}'""",
        "UPDATE points SET kernel = 'other'",
        "UPDATE points SET kernel = x'00ff'",
        "UPDATE points SET kernel = CAST(x'80ff' AS TEXT)",
        "DELETE FROM points WHERE point = 1",
        "UPDATE points SET point = -1 WHERE point = 0",
        "UPDATE session SET plan = '[]'",
        "UPDATE session SET plan = '[[[[[['",
        "UPDATE session SET machine = 'null'",
        "UPDATE session SET telemetry = '{}'",
        "UPDATE session SET outcome = 'glorious'",
        "UPDATE session SET started_at = 'yesterday'",
        "UPDATE session SET t0_ns = 1.5",
        "UPDATE session SET id = hex(zeroblob(1000))",
        "DELETE FROM session",
        "UPDATE measurements SET cold = 2",
        "UPDATE figures SET value = 'x'",
        "UPDATE errors SET error = 'small'",
        "UPDATE measurements SET point = 77 WHERE point = 0",
        "UPDATE correctness SET rows_compared = -1",
        "UPDATE samples SET ms = 'slow'",
        "UPDATE readings SET t_ns = 'now'",
        "UPDATE readings SET throttle = '{'",
        "UPDATE traces SET trace = x'80'",
        "UPDATE traces SET trace = 'text'",
        "UPDATE traces SET trace = zeroblob(1000)",
    ],
)
def test_a_value_that_no_session_holds_is_refused(path: Path, statement: str) -> None:
    tamper(path, statement, "UPDATE batches SET digest = ''")  # else they were known to be altered
    with pytest.raises(CorruptFileError):
        load(path)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Connection.setlimit exists from Python 3.11")
def test_a_blob_beyond_the_limit_is_refused(path: Path) -> None:
    tamper(path, f"UPDATE traces SET trace = zeroblob({MAX_VALUE_BYTES + 1})")  # noqa: S608 - a test's own
    with pytest.raises(CorruptFileError):
        load(path)


def test_a_file_beyond_the_limit_is_not_opened(path: Path) -> None:
    os.truncate(path, (1 << 30) + 1)
    with pytest.raises(ForeignFileError, match="larger than any session"):
        load(path)


def test_a_plan_of_countless_points_is_refused_before_it_is_laid_out(path: Path) -> None:
    names = ",".join(f'"k{n}"' for n in range(2000))
    problems = ",".join(['{"seqlen_q":1,"seqlen_k":1}'] * 2000)
    plan = f'{{"backend":"cpu","kernels":[{names}],"problems":[{problems}]}}'
    tamper(path, f"UPDATE session SET plan = '{plan}'")  # noqa: S608 - a test's own
    with pytest.raises(CorruptFileError, match="more than"):
        load(path)


def test_a_truncated_file_is_damaged_wherever_it_was_cut(path: Path) -> None:
    whole = path.read_bytes()
    for size in range(1, len(whole), 4096 // 2):
        path.write_bytes(whole[:size])
        with pytest.raises((CorruptFileError, ForeignFileError)):
            load(path)


def test_a_flipped_bit_is_read_as_a_session_or_explained_but_never_crashes(path: Path) -> None:
    whole = path.read_bytes()
    for position in range(0, len(whole), 997):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << (position % 8)
        path.write_bytes(damaged)
        try:
            load(path)
        except SessionFileError as error:
            assert str(path) in str(error)  # noqa: PT017 - some flips change a figure to another figure


def test_a_journal_that_names_other_files_is_not_used(path: Path) -> None:
    journal = path.with_name(path.name + "-journal")
    journal.write_bytes(b"/some/file" + bytes.fromhex("0000000a 00000000 d9d505f920a163d7"))
    with pytest.raises(CorruptFileError, match="names other files"):
        load(path)


def test_opening_changes_nothing(path: Path) -> None:
    before = path.read_bytes(), path.stat().st_mtime_ns
    load(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def add_weather(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE session ADD COLUMN weather TEXT")


def test_an_older_file_is_read_without_being_changed_and_brought_up_to_date_by_an_edit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, before = load(path), path.read_bytes()
    newer = (*migrations.MIGRATIONS, add_weather)
    monkeypatch.setattr(opening, "VERSION", len(newer))
    monkeypatch.setattr(opening, "migrate", lambda connection: migrations.migrate(connection, newer))
    assert load(path) == session
    assert path.read_bytes() == before
    change(path, "note", "sunny")
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(newer),)
    assert connection.execute("SELECT note, weather FROM session").fetchone() == ("sunny", None)
    connection.close()


def test_a_file_of_version_1_is_read_with_its_lse_errors_and_without_notes(tmp_path: Path) -> None:
    path = tmp_path / "first.flashscope"
    connection = written_by(path, version=1)
    connection.execute(
        "INSERT INTO measurements VALUES (0, 'perf_counter', 1, 1.0, 2.0, 10, 20, 30, NULL, 'nothing', NULL)"
    )
    connection.execute("INSERT INTO correctness VALUES (0, 1e-7, 1e-5, 2e-7, 3e-5, 4, 1)")
    connection.close()
    measured = load(path).points[0].measurement
    assert measured is not None
    assert measured.note == ""
    assert measured.correctness is not None
    assert measured.correctness.of("LSE") == OutputError(output="LSE", error=2e-7, bound=3e-5)
    assert measured.value("workspace_bytes") == 30


def test_kernels_of_a_file_of_version_2_took_no_turns(tmp_path: Path) -> None:
    path = tmp_path / "second.flashscope"
    connection = written_by(path, version=2)
    connection.execute("INSERT INTO samples VALUES (0, 0, 1.5, NULL)")
    connection.execute("UPDATE points SET status = 'done', started_ns = 1, ended_ns = 2 WHERE point = 0")
    connection.execute(
        "INSERT INTO measurements VALUES (0, 'perf_counter', 1, 1.0, 2.0, 10, 20, 30, NULL, 'none', NULL, '')"
    )
    connection.close()
    session = load(path)
    assert not session.plan.protocol.interleave
    assert session.plan == msgspec.structs.replace(
        builders.plan(), protocol=Protocol(interleave=False, drift_check=False)
    )  # nothing else has changed
    assert (session.points[0].started_ns, session.points[0].sampling_ns) == (1, None)
    assert session.points[0].measurement is not None
    assert session.points[0].measurement.samples == (Sample(1.5, None, None),)


@pytest.mark.parametrize("plan", ["not json", "[]", "{}", "null", '{"protocol": 3}'])
def test_an_older_file_with_a_plan_that_is_none_is_refused(tmp_path: Path, plan: str) -> None:
    path = tmp_path / "second.flashscope"
    connection = written_by(path, version=2)
    connection.execute("UPDATE session SET plan = ?", (plan,))
    connection.close()
    with pytest.raises(CorruptFileError):
        load(path)


def written_by(path: Path, version: int) -> sqlite3.Connection:
    """A file as an older Flashscope wrote it before the first point: its columns, no word of turns."""
    connection = sqlite3.connect(path, isolation_level=None)
    migrations.migrate(connection, migrations.MIGRATIONS[:version])
    session = Session.begin(builders.plan_started())
    plan = json.loads(msgspec.json.encode(session.plan))
    del plan["protocol"]["interleave"], plan["protocol"]["drift_check"]
    connection.execute(
        "INSERT INTO session VALUES (1, ?, '', '', ?, ?, NULL, NULL, ?, ?, NULL, 'a test')",
        (
            session.id,
            session.started_at,
            session.t0_ns,
            json.dumps(plan),
            msgspec.json.encode(session.machine).decode(),
        ),
    )
    for state in session.points:
        connection.execute(
            "INSERT INTO points VALUES (?, ?, ?, 7, 'pending', '', '', NULL, NULL)",
            (
                state.point.index,
                state.point.kernel,
                msgspec.json.encode(state.point.problem).decode(),
            ),
        )
    return connection


def test_a_migration_that_fails_leaves_the_file_at_its_version(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE session ADD COLUMN half_done TEXT")
        connection.execute("not a statement")

    steps, before = (*migrations.MIGRATIONS, fail), path.read_bytes()
    monkeypatch.setattr(opening, "migrate", lambda connection: migrations.migrate(connection, steps))
    with pytest.raises(SessionFileError):
        change(path, "note", "sunny")
    assert path.read_bytes() == before
    assert load(path).outcome == "cancelled"
