"""A session that is being recorded can be looked at, and neither side waits for the other in vain."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from profiles.store import Recorder, load
from profiles.store.opening import being_written, opened
from profiles.wire.events import PointStarted
from tests.profiles.store import builders

pytestmark = pytest.mark.timeout(60)


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
