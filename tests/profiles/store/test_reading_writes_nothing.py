"""Reading leaves a file and everything beside it as it was, whatever lies there."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flashscope.profiles.store import Recorder, SessionFileError, change, list_sessions, load, trash
from tests.profiles.sessions import session_of
from tests.profiles.store import builders

pytestmark = pytest.mark.timeout(60)
KILLED_MID_WRITE = """
import os, pathlib, sys
from flashscope.profiles.store import Recorder
from tests.profiles.sessions import session_of
from tests.profiles.store import builders
recorder = Recorder(pathlib.Path(sys.argv[1]))
for event in [builders.plan_started(), *builders.measured(0, 1)]:
    recorder.record(event)
for pragma in ("cache_size = 1", "cache_spill = 1"):
    recorder._connection.execute(f"PRAGMA {pragma}")
rows = [(n, "x" * 4000) for n in range(200)]
recorder._connection.executemany("INSERT INTO readings (t_ns, throttle) VALUES (?, ?)", rows)
os._exit(9)
"""
KILLED_WHILE_WRITING_AHEAD = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("UPDATE session SET note = 'in the log'")
os._exit(9)
"""


def written(folder: Path) -> Path:
    return builders.recorded(folder / "a.flashscope")


def run(script: str, path: Path) -> None:
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)


def folder_as_it_is(folder: Path) -> dict[str, object]:
    """Kind, moment of the last change and content of everything in a folder."""
    return {found.name: one_as_it_is(found) for found in folder.iterdir()}


def one_as_it_is(path: Path) -> object:
    found = path.lstat()
    content = path.read_bytes() if stat.S_ISREG(found.st_mode) else None
    return stat.S_IFMT(found.st_mode), found.st_mtime_ns, found.st_size, content


def a_foreign_log(path: Path) -> None:
    """The log of another session, of which it would change the note."""
    other = written(path.parent.parent / "other")
    run(KILLED_WHILE_WRITING_AHEAD, other)
    other.with_name(other.name + "-wal").rename(path)
    assert path.stat().st_size > 4096


THINGS: dict[str, Callable[[Path], object]] = {
    "a fifo": os.mkfifo,
    "a folder": Path.mkdir,
    "garbage": lambda path: path.write_bytes(b"garbage " * 999),
    "nothing": Path.touch,
    "a link to endless zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a foreign log": a_foreign_log,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "sessions")


BESIDE = [
    *(("journal", thing) for thing in THINGS),
    *(pytest.param(("wal", thing), marks=pytest.mark.matrix) for thing in THINGS),
]


@pytest.fixture(params=BESIDE, ids="-".join)
def beset(path: Path, request: pytest.FixtureRequest) -> Path:
    """A session beside which something lies that SQLite would open, apply or delete."""
    end, thing = request.param
    THINGS[thing](path.with_name(f"{path.name}-{end}"))
    return path


def test_whatever_lies_beside_a_session_is_neither_used_nor_changed(beset: Path) -> None:
    before = folder_as_it_is(beset.parent)
    assert load(beset) == session_of(builders.whole_sweep())
    assert [info.error for info in list_sessions(beset.parent)] == [""]
    assert folder_as_it_is(beset.parent) == before


def test_a_session_with_something_beside_it_is_changed_wholly_or_refused_with_a_sentence(beset: Path) -> None:
    try:
        change(beset, "name", "another name")
    except SessionFileError as error:
        assert "is no part of a session" in str(error)  # noqa: PT017 - some are harmless
    else:
        assert load(beset).name == "another name"


def test_a_session_with_something_beside_it_can_be_deleted(beset: Path) -> None:
    moved = trash(beset)
    assert not beset.exists()
    assert load(moved) == session_of(builders.whole_sweep())


def test_a_write_cut_off_in_the_middle_is_undone_for_the_reader_and_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    run(KILLED_MID_WRITE, path)
    before = folder_as_it_is(tmp_path)
    assert path.with_name("a.flashscope-journal").stat().st_size > 0
    session = load(path)
    assert session.readings == []
    assert session.points[0].measurement == builders.MEASUREMENT
    assert [info.error for info in list_sessions(tmp_path)] == [""]
    assert folder_as_it_is(tmp_path) == before


def test_a_write_cut_off_in_the_middle_is_undone_in_the_file_when_it_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    run(KILLED_MID_WRITE, path)
    change(path, "note", "repaired")
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
    assert (load(path).note, load(path).readings) == ("repaired", [])


def test_what_another_program_wrote_ahead_is_read_and_stays_beside_the_file(path: Path) -> None:
    run(KILLED_WHILE_WRITING_AHEAD, path)
    before = folder_as_it_is(path.parent)
    assert f"{path.name}-wal" in before
    assert load(path).note == "in the log"
    assert folder_as_it_is(path.parent) == before


@pytest.mark.parametrize("deleted", [False, True])
def test_what_another_program_wrote_ahead_is_kept_by_an_edit_and_by_deleting(
    path: Path, deleted: bool
) -> None:
    run(KILLED_WHILE_WRITING_AHEAD, path)
    found = path
    if deleted:
        found = trash(path)
    else:
        change(path, "name", "another name")
    assert load(found).note == "in the log"
    assert not path.with_name(f"{path.name}-wal").exists()


def test_a_session_in_write_ahead_mode_is_read_and_nothing_is_left_beside_it(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    before = folder_as_it_is(path.parent)
    assert load(path) == session_of(builders.whole_sweep())
    assert folder_as_it_is(path.parent) == before


def test_a_journal_that_would_make_the_file_enormous_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    run(KILLED_MID_WRITE, path)
    journal = path.with_name(f"{path.name}-journal")
    changed = bytearray(journal.read_bytes())
    changed[16:20] = (1 << 19).to_bytes(4, "big")  # pages of the database before the write
    journal.write_bytes(changed)
    with pytest.raises(SessionFileError, match="beyond any session"):
        load(path)


def test_a_recorder_does_not_use_what_lies_where_its_file_is_to_be(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    path.with_name(f"{path.name}-journal").write_text("of another file")
    before = folder_as_it_is(tmp_path)
    with pytest.raises(SessionFileError, match="in the way"):
        Recorder(path).record(builders.plan_started())
    assert folder_as_it_is(tmp_path) == before
