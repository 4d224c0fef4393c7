"""A session's file holds the session or nothing, whenever its writer is killed."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from flashscope.app.commands.arguments import new_file
from flashscope.profiles.store import (
    EmptyFileError,
    Recorder,
    SessionFileError,
    TakenFileError,
    list_sessions,
    load,
    opening,
    writer,
)
from tests.profiles.store import builders


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What a writer leaves that is killed before its nth statement: a file, and perhaps its journal."""
    left: list[Path] = []

    def connected(path: Path, mode: str) -> sqlite3.Connection:
        def keep(_statement: str) -> None:
            left.append(tmp_path / f"{len(left)}" / path.name)
            left[-1].parent.mkdir()
            for one in path.parent.glob(f"{path.name}*"):
                shutil.copy(one, left[-1].parent)

        connection = opening.connect(path, mode)
        connection.execute("PRAGMA cache_size = 1")  # so that much is written before it is committed
        connection.set_trace_callback(keep)
        return connection

    monkeypatch.setattr(writer, "connect", connected)
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    monkeypatch.undo()
    recorder.close()
    return left


def is_empty(path: Path) -> bool:
    """Whether it is told to be empty; else it holds the whole plan."""
    (info,) = list_sessions(path.parent)
    if not info.error:
        assert load(path).plan == builders.plan()
        return False
    with pytest.raises(EmptyFileError) as told:
        load(path)
    assert str(told.value) == info.error
    assert info.error == f"{path} is empty: no sweep was recorded in it. If none is beginning, delete it."
    return True


def test_a_writer_killed_while_it_makes_its_file_leaves_it_empty_or_whole(killed: list[Path]) -> None:
    half_written = [path for path in killed if path.stat().st_size and len(list(path.parent.iterdir())) > 1]
    assert half_written
    assert all(is_empty(path) for path in half_written)
    assert {is_empty(path) for path in killed} == {True, False}


def test_a_file_with_tables_and_no_session_is_empty_too(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    recorder = Recorder(path)
    recorder.record(builders.plan_started())
    recorder.close()
    connection = sqlite3.connect(path, isolation_level=None)
    for table in ("points", "session"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - one of two
    connection.close()
    with pytest.raises(EmptyFileError, match="is empty"):
        load(path)


@pytest.mark.matrix
def test_what_a_killed_writer_left_without_a_session_is_taken_over_and_nothing_else(
    killed: list[Path],
) -> None:
    taken = 0
    for path in killed:
        before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
        recorder = Recorder(path)
        if is_empty(path):
            assert new_file(str(path)) == path
            recorder.record(builders.plan_started())
            recorder.close()
            assert load(path).plan == builders.plan()
            assert [one.name for one in path.parent.iterdir()] == [path.name]
            taken += 1
        else:
            with pytest.raises(TakenFileError, match="exists already"):
                recorder.record(builders.plan_started())
            assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before
    assert 2 < taken < len(killed)


MINE = {
    "a text": {"": b"mine"},
    "a journal that is a text": {"": b"", "-journal": b"mine, and important"},
    "a log": {"": b"", "-wal": b"mine"},
    "pages and no journal": {"": bytes(4096)},
}


@pytest.mark.parametrize("files", MINE.values(), ids=list(MINE))
def test_what_may_be_of_somebody_else_is_not_taken_over(tmp_path: Path, files: dict[str, bytes]) -> None:
    path = tmp_path / "a.flashscope"
    for end, content in files.items():
        path.with_name(path.name + end).write_bytes(content)
    with pytest.raises(ValueError, match="exists already"):
        new_file(str(path))
    with pytest.raises(TakenFileError, match="exists already"):
        Recorder(path).record(builders.plan_started())
    assert {one.name.removeprefix(path.name): one.read_bytes() for one in tmp_path.iterdir()} == files


def test_a_link_to_an_empty_file_is_not_taken_over(tmp_path: Path) -> None:
    path, real = tmp_path / "a.flashscope", tmp_path / "real"
    real.touch()
    path.symlink_to(real)
    with pytest.raises(TakenFileError, match="exists already"):
        Recorder(path).record(builders.plan_started())
    assert not real.stat().st_size


def test_of_two_that_take_over_one_file_one_is_refused_and_its_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.flashscope"
    path.touch()
    other = Recorder(path)

    def too_late(path: Path, mode: str) -> sqlite3.Connection:
        """Connect after another recorder has begun, and ended, in the file."""
        monkeypatch.undo()
        other.record(builders.plan_started())
        other.close()
        return opening.connect(path, mode)

    monkeypatch.setattr(writer, "connect", too_late)
    with pytest.raises(TakenFileError, match="another session by now"):
        Recorder(path).record(builders.plan_started())
    assert load(path).plan == builders.plan()


def test_a_file_that_another_has_just_locked_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.flashscope"
    path.touch()
    monkeypatch.setattr(
        "flashscope.profiles.store.places.being_written", lambda _path: False
    )  # it was not, just now
    monkeypatch.setattr(writer, "connect", lambda path, mode: opening.connect(path, mode, timeout_s=0))
    with closing(sqlite3.connect(path, isolation_level=None)) as locking:
        locking.execute("BEGIN IMMEDIATE")
        with pytest.raises(SessionFileError, match="another process"):
            Recorder(path).record(builders.plan_started())
        assert path.exists()


def test_a_folder_is_told_as_one_and_not_to_be_removed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder; name a file in it"):
        new_file(str(tmp_path))
