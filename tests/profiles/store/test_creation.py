"""A session's file holds the session or nothing, whenever its writer is killed."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from profiles.store import EmptyFileError, Recorder, list_sessions, load, opening, writer
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
