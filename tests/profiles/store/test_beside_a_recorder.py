"""A session that is being recorded can be looked at, and neither side waits for the other in vain."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from flashscope.profiles.store import (
    BusyFileError,
    MovedFileError,
    Recorder,
    change,
    copy_session,
    list_sessions,
    load,
    trash,
)
from flashscope.profiles.store.opening import being_written, opened
from flashscope.profiles.store.sidecars import JOURNAL, Sidecars
from flashscope.profiles.wire.events import PointStarted
from tests.profiles.sessions import session_of
from tests.profiles.store import builders
from tests.profiles.store.test_reading_writes_nothing import THINGS, a_foreign_log, one_as_it_is

pytestmark = pytest.mark.timeout(60)
LOCK_AGAIN = """
import fcntl, sys
reserved = 0x40000001  # the byte that a writer has locked, see sqlite.org/lockingv3.html
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, reserved)
"""


def wait_for_a_waiting_writer(path: Path) -> None:
    """Return once no further reader is let in."""
    locked = False
    while not locked:
        with closing(sqlite3.connect(path, timeout=0)) as connection:
            try:
                connection.execute("SELECT id FROM session").fetchone()
            except sqlite3.OperationalError as error:
                locked = "locked" in str(error)


def test_a_reader_that_asks_for_the_writer_does_not_keep_it_waiting(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    started = PointStarted(index=0, t_ns=1)
    failed: list[Exception] = []

    def write() -> None:
        try:
            recorder.record(started)
        except Exception as error:  # noqa: BLE001 - told by the test's own thread
            failed.append(error)

    writing = threading.Thread(target=write)
    with opened(recorder.path) as connection:
        connection.execute("SELECT id FROM session").fetchone()
        writing.start()
        wait_for_a_waiting_writer(recorder.path)
        assert being_written(recorder.path)  # as `loading` asks while it reads
    writing.join()
    assert not failed
    recorder.close()
    assert load(recorder.path).points[0].status == "interrupted"


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path / "sessions" / "a.flashscope")
    made.record(builders.plan_started())
    yield made
    made.close()


def is_locked(path: Path) -> bool:
    """Whether another process is refused the writer's lock; it looks at the file alone."""
    run = subprocess.run([sys.executable, "-c", LOCK_AGAIN, str(path)], capture_output=True, check=False)
    return b"BlockingIOError" in run.stderr


LOOKS: dict[str, Callable[[Path], object]] = {
    "read": load,
    "listed": lambda path: list_sessions(path.parent),
    "copied": lambda path: copy_session(path, path.with_name("copy")),
    "asked for": being_written,
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=list(LOOKS))
def test_a_file_that_is_recorded_here_keeps_its_lock_when_it_is_looked_at_beside_a_log(
    recorder: Recorder, look: Callable[[Path], object]
) -> None:
    log = recorder.path.with_name(f"{recorder.path.name}-wal")
    log.write_bytes(b"garbage " * 999)
    look(recorder.path)
    assert is_locked(recorder.path)
    log.unlink()


def test_a_file_that_is_recorded_here_is_neither_changed_nor_deleted_beside_a_log(recorder: Recorder) -> None:
    log = recorder.path.with_name(f"{recorder.path.name}-wal")
    log.write_bytes(b"garbage " * 999)
    with pytest.raises(BusyFileError):
        change(recorder.path, "name", "another name")
    with pytest.raises(BusyFileError):
        trash(recorder.path)
    assert is_locked(recorder.path)
    log.unlink()


LAID = {f"{thing} as {end}": (end, THINGS[thing]) for thing in THINGS for end in ("-wal", "-journal")}
HARMLESS = {
    "garbage as -journal",
    "nothing as -journal",
    "a foreign log as -journal",
}  # SQLite writes its own


@pytest.mark.parametrize("name", LAID)
def test_a_recording_is_whole_whatever_is_laid_beside_it_meanwhile(tmp_path: Path, name: str) -> None:
    end, lay = LAID[name]
    path, told = tmp_path / "sessions" / "a.flashscope", []
    recorder, thing = Recorder(path), path.with_name(path.name + end)
    for number, event in enumerate(builders.whole_sweep()):
        if number == 5:
            lay(thing)
            before = None if name in HARMLESS else one_as_it_is(thing)
        try:
            recorder.record(event)
        except MovedFileError as error:
            told.append(str(error))
    recorder.close()
    assert load(recorder.path) == session_of(builders.whole_sweep())
    if name in HARMLESS:
        assert not told
    else:
        assert told == [
            f"{thing} was laid beside {path.name} while it was recorded; it goes on in {recorder.path}."
        ]
        assert one_as_it_is(thing) == before


def test_a_file_is_no_more_held_once_its_recorder_is_closed(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "sessions" / "a.flashscope", *builders.whole_sweep())
    a_foreign_log(path.with_name(f"{path.name}-wal"))
    assert not being_written(path)


def test_who_asks_at_the_same_time_is_no_recorder(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "sessions" / "a.flashscope", *builders.whole_sweep())
    with ThreadPoolExecutor(4) as askers:
        assert not any(askers.map(being_written, [path] * 400))


@pytest.mark.parametrize("nth", [1, 2])
def test_a_journal_that_its_writer_removes_after_a_look_at_it_is_no_trouble(
    nth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    journal = path.with_name(f"{path.name}-journal")
    journal.write_bytes(JOURNAL)
    look, looks = Path.lstat, count(1)

    def look_and_lose(asked: Path) -> os.stat_result:
        found = look(asked)
        if asked == journal and next(looks) == nth:
            journal.unlink()
        return found

    monkeypatch.setattr(Path, "lstat", look_and_lose)
    assert Sidecars.of(path).strange == ()
