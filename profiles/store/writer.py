"""The recorder: writes a session's file as its events arrive."""

import os
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from profiles.results.session import Session
from profiles.store.beside import leftovers
from profiles.store.errors import BusyFileError, SessionFileError, explain_os, explain_sqlite
from profiles.store.migrations import migrate
from profiles.store.opening import being_written, connect
from profiles.store.rows import write_event, write_session
from profiles.store.schema import MAX_FILE_BYTES
from profiles.store.statements import TooLargeError
from profiles.wire.events import (
    Event,
    PlanFinished,
    PlanStarted,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    Readings,
    SamplingStarted,
    TelemetryStarted,
    TraceReady,
)

READINGS_PERIOD_NS = 1_000_000_000
Recorded = (
    PointStarted
    | PointChecked
    | SamplingStarted
    | PointMeasured
    | PointFailed
    | TelemetryStarted
    | TraceReady
    | PlanFinished
)


class Recorder:
    """Writes one session to one new file; events may come from any one thread at a time.

    An event is acknowledged when `record` returns: what it says survives a crash of this process or of the
    machine from then on. Readings are the exception: they are written once a second, and with every point.
    Between transactions the recorder keeps SQLite's write lock, so a second writer is refused and readers are
    not, and the lock dies with this process.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._waiting: list[Recorded | Readings] = []
        self._readings_written_ns: int | None = None

    def record(self, event: Event) -> None:
        """Take in one event of a run; the file is created by its PlanStarted.

        What a full disk or a lock keeps from being written is tried again with the next event.

        Raises:
            SessionFileError: The file exists already, or cannot be written (no permission, disk full, ...).
        """
        if isinstance(event, PlanStarted):
            self._create(event)
        elif self._connection is None:
            return  # of no session yet, or of none any more
        elif isinstance(event, Readings):
            self._take_readings(event)
        elif isinstance(event, Recorded):
            self._waiting.append(event)
            self._write_waiting()

    def close(self) -> None:
        """Write what is waiting and let go of the file.

        Raises:
            SessionFileError: The last readings could not be written; the file is let go of all the same.
        """
        if self._connection is None:
            return
        try:
            self._write_waiting()
        finally:
            self._connection.close()
            self._connection = None

    def _create(self, event: PlanStarted) -> None:
        if self._connection is not None:
            raise SessionFileError(f"{self.path} holds one session; a second one needs a file of its own.")
        session = Session.begin(event)
        _create_file(self.path)
        try:
            self._connection = _begin_file(self.path, session)
        except (sqlite3.Error, OverflowError) as error:
            explained = _explained(error, self.path)
            self.path.unlink()
            raise explained from error

    def _take_readings(self, event: Readings) -> None:
        self._waiting.append(event)
        now = max((reading.t_ns for reading in event.readings), default=None)
        if now is None:
            return
        if self._readings_written_ns is None:
            self._readings_written_ns = now
        if now - self._readings_written_ns >= READINGS_PERIOD_NS:
            self._write_waiting()
            self._readings_written_ns = now

    def _write_waiting(self) -> None:
        connection = self._connection
        if connection is None or not self._waiting:
            return
        try:
            if not connection.in_transaction:
                connection.execute("BEGIN IMMEDIATE")
            self._write_each(connection)
            connection.execute("COMMIT")
            self._waiting.clear()
            connection.execute("BEGIN IMMEDIATE")
        except (sqlite3.Error, OverflowError) as error:
            if connection.in_transaction:  # SQLite has rolled back by itself when the disk is full
                connection.execute("ROLLBACK")
            with suppress(sqlite3.Error):
                connection.execute("BEGIN IMMEDIATE")  # readers must still see that the writer lives
            raise _explained(error, self.path) from error

    def _write_each(self, connection: sqlite3.Connection) -> None:
        done = 0
        try:
            for event in self._waiting:
                write_event(connection, event)
                done += 1
        except (sqlite3.Error, OverflowError) as error:
            if not isinstance(error, sqlite3.OperationalError):
                del self._waiting[done]  # its values cannot be stored by a later attempt either
            raise


def check_folder(folder: Path) -> None:
    """Make the folder if need be and prove that a file can be written in it; none is left.

    Raises:
        SessionFileError: It cannot; the text says why and what to do.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise explain_os(error, folder) from error


def _create_file(path: Path) -> None:
    """Make the empty file, and the folders it is in; an existing file is never written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os(error, path.parent) from error
    if not path.exists() and (found := leftovers(path)):
        raise SessionFileError(f"{found[0]} is in the way; name another file or remove it.")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError as error:
        if path.is_file() and being_written(path):
            raise BusyFileError(f"{path} is being recorded by {_writer(path)}; name another file.") from error
        raise SessionFileError(f"{path} exists already; name another file or remove it.") from error
    except OSError as error:
        raise explain_os(error, path) from error


def _begin_file(path: Path, session: Session) -> sqlite3.Connection:
    """Write the tables and the plan into an empty file and keep its write lock."""
    connection = connect(path, "rw")
    try:
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute(f"PRAGMA max_page_count = {MAX_FILE_BYTES // page_bytes}")
        migrate(connection)
        connection.execute("BEGIN IMMEDIATE")
        write_session(connection, session, writer=f"process {os.getpid()}")
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
    except BaseException:
        connection.close()
        raise
    return connection


def _writer(path: Path) -> str:
    try:
        with closing(connect(path, "ro")) as connection:
            (writer,) = connection.execute("SELECT writer FROM session").fetchone()
    except (sqlite3.Error, TypeError):
        return "another process"
    return str(writer)


def _explained(error: sqlite3.Error | OverflowError, path: Path) -> SessionFileError:
    if isinstance(error, TooLargeError):
        return SessionFileError(f"{path} cannot hold {error}.")
    if isinstance(error, OverflowError):
        return SessionFileError(f"{path} cannot hold a figure beyond 64 bits; use smaller problems.")
    if "is full" in str(error) and path.stat().st_size > MAX_FILE_BYTES // 2:
        most = f"{MAX_FILE_BYTES >> 20} MiB"
        return SessionFileError(f"{path} is as large as a session may be ({most}), or the disk is full.")
    return explain_sqlite(error, path)
