"""The recorder: writes a session's file as its events arrive."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store.errors import (
    BusyFileError,
    MovedFileError,
    SessionFileError,
    TakenFileError,
    explain_sqlite,
)
from flashscope.profiles.store.migrations import migrate
from flashscope.profiles.store.opening import connect
from flashscope.profiles.store.places import create_free, create_or_take
from flashscope.profiles.store.recording_here import forget_recording, identity, note_recording
from flashscope.profiles.store.resuming import resume_file
from flashscope.profiles.store.rows import write_event, write_session
from flashscope.profiles.store.schema import MAX_FILE_BYTES
from flashscope.profiles.store.sealed_rows import seal_batches
from flashscope.profiles.store.sidecars import Sidecars
from flashscope.profiles.store.statements import TooLargeError
from flashscope.profiles.wire.events import (
    AuditReady,
    BackwardTraceReady,
    CeilingsMeasured,
    Event,
    LandscapeReady,
    PlanFinished,
    PlanResumed,
    PlanStarted,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    RanksReady,
    Readings,
    SamplingStarted,
    StallsReady,
    TelemetryStarted,
    TimelineReady,
    TraceReady,
)

READINGS_PERIOD_NS = 1_000_000_000
PASSING = (sqlite3.OperationalError, MemoryError)  # a later attempt may do better: disk full, locked, ...
Recorded = (
    CeilingsMeasured
    | PointStarted
    | PointChecked
    | SamplingStarted
    | PointMeasured
    | PointFailed
    | TelemetryStarted
    | StallsReady
    | LandscapeReady
    | AuditReady
    | BackwardTraceReady
    | RanksReady
    | TimelineReady
    | TraceReady
    | PlanFinished
)


class Recorder:
    """Writes one session to one new file, or another part of one to its file.

    Events may come from any one thread at a time.

    An event is acknowledged when `record` returns: what it says survives a crash of this process or of the
    machine from then on. Readings are the exception: they are written once a second, and with every point.
    Between transactions the recorder keeps SQLite's write lock, so a second writer is refused and readers are
    not, and the lock dies with this process.

    What cannot be written, be it the file itself, is kept and tried again with the next event. A file that is
    moved or replaced while it is recorded, or beside which something is laid that SQLite would take for a
    part of it, goes on in another one.

    Args:
        path: The file to make or, where the first event is a PlanResumed, to go on in.
        numbered: Whether a name that is taken may get -2, -3, ... before its suffix.

    Attributes:
        path: The file; before it is created, the one wanted.
    """

    def __init__(self, path: Path, *, numbered: bool = False) -> None:
        self.path = path
        self._numbered = numbered
        self._opening: PlanStarted | PlanResumed | None = None
        self._connection: sqlite3.Connection | None = None
        self._identity = (0, 0)
        self._waiting: list[Recorded | Readings] = []
        self._readings_written_ns: int | None = None

    @property
    def created(self) -> bool:
        """Whether the file is there."""
        return self._identity != (0, 0)

    def record(self, event: Event) -> None:
        """Take in one event of a run; the file is created by its PlanStarted, or opened by its PlanResumed.

        Raises:
            TakenFileError: There is a file of this name already, or the one to go on in is not as it was.
            MovedFileError: All is written, but into another file: `path` names it.
            SessionFileError: It cannot be written (no permission, disk full, ...).
        """
        if isinstance(event, PlanStarted | PlanResumed):
            if self._opening is not None:
                raise SessionFileError(
                    f"{self.path} holds one session; a second one needs a file of its own."
                )
            self._opening = event
            self.catch_up()
        elif self._opening is None:
            return  # of no session yet, or of none any more
        elif isinstance(event, Readings):
            self._take_readings(event)
        elif isinstance(event, Recorded):
            self._waiting.append(event)
            self.catch_up()

    def catch_up(self) -> None:
        """Write what waits.

        Raises:
            SessionFileError: As `record` does.
        """
        if self._opening is None:
            return
        if self._connection is None:
            self._connection = self._open(self._opening)
        lost = self._how_lost()
        if lost:
            self._connection = self._copied(self._connection)
        self._write_waiting(self._connection)
        if lost:
            raise MovedFileError(f"{lost} while it was recorded; it goes on in {self.path}.")

    def close(self) -> None:
        """Write what is waiting and let go of the file.

        Raises:
            SessionFileError: As `record` does; the file is let go of all the same.
        """
        try:
            self.catch_up()
        finally:
            self._opening = None
            if self._connection is not None:
                self._connection.close()
                self._connection = None
                forget_recording(self._identity)

    def _open(self, event: PlanStarted | PlanResumed) -> sqlite3.Connection:
        return self._create(event) if isinstance(event, PlanStarted) else self._resume(event)

    def _resume(self, event: PlanResumed) -> sqlite3.Connection:
        try:
            connection = resume_file(self.path, event)
        except SessionFileError:
            raise
        except Exception as error:
            raise _explained(error, self.path) from error
        self._take(self.path)
        return connection

    def _create(self, event: PlanStarted) -> sqlite3.Connection:
        session = Session.begin(event)
        path = create_free(self.path) if self._numbered else create_or_take(self.path)
        try:
            connection = _begin_file(path, session)
        except Exception as error:
            explained = _explained(error, path)
            if not isinstance(explained, BusyFileError | TakenFileError):  # else it is another's by now
                path.unlink()
            raise explained from error
        self._take(path)
        return connection

    def _take(self, path: Path) -> None:
        """Record in this file from now on."""
        forget_recording(self._identity)
        self.path, self._identity = path, identity(path)
        note_recording(self._identity)

    def _how_lost(self) -> str:
        """Why this file cannot be written any more, to stand before "while"; empty when it can be."""
        if self._has_moved():
            return f"{self.path} was moved or replaced"
        strange = Sidecars.of(self.path).strange
        return f"{strange[0]} was laid beside {self.path.name}" if strange else ""

    def _has_moved(self) -> bool:
        """Whether another file, or none, bears the name of this one."""
        try:
            return identity(self.path) != self._identity
        except FileNotFoundError:
            return True
        except OSError:  # the disk cannot be asked: writing will tell
            return False

    def _copied(self, source: sqlite3.Connection) -> sqlite3.Connection:
        """What a file holds that was lost, in a new one under its name or one beside it."""
        path = create_free(self.path)
        target: sqlite3.Connection | None = None
        try:
            target = connect(path, "rw")
            if source.in_transaction:  # of which no copy can be made; nothing waits in it
                source.execute("ROLLBACK")
            self._back_up(source, target)
            target.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if target is not None:
                target.close()
            explained = _explained(error, path)
            path.unlink()
            raise explained from error
        source.close()
        self._take(path)
        return target

    def _back_up(self, source: sqlite3.Connection, target: sqlite3.Connection) -> None:
        """Copy what this file holds and nothing of what was laid beside it, which SQLite would take in."""
        if self._has_moved():
            source.backup(target)
        else:
            with closing(connect(self.path, "ro&immutable=1")) as alone:
                alone.backup(target)

    def _take_readings(self, event: Readings) -> None:
        self._waiting.append(event)
        now = max((reading.t_ns for reading in event.readings), default=None)
        if now is None:
            return
        if self._readings_written_ns is None:
            self._readings_written_ns = now
        if now - self._readings_written_ns >= READINGS_PERIOD_NS:
            self._readings_written_ns = now
            self.catch_up()

    def _write_waiting(self, connection: sqlite3.Connection) -> None:
        if not self._waiting:
            return
        try:
            if not connection.in_transaction:
                connection.execute("BEGIN IMMEDIATE")
            self._write_each(connection)
            connection.execute("COMMIT")
            self._waiting.clear()
            connection.execute("BEGIN IMMEDIATE")
        except Exception as error:  # whatever it is, what waits behind it is to be written
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
            seal_batches(connection)
        except PASSING:
            raise
        except Exception:
            del self._waiting[done]  # it cannot be stored by a later attempt either
            raise


def _begin_file(path: Path, session: Session) -> sqlite3.Connection:
    """Write the tables and the plan into an empty file, all or nothing, and keep its write lock."""
    connection = connect(path, "rw")
    try:
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute(f"PRAGMA max_page_count = {MAX_FILE_BYTES // page_bytes}")
        connection.execute("BEGIN IMMEDIATE")
        _check_empty(connection, path)
        migrate(connection)
        write_session(connection, session, writer=f"process {os.getpid()}")
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_empty(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
        raise TakenFileError(f"{path} holds another session by now; name another file.")


def _explained(error: Exception, path: Path) -> SessionFileError:
    if isinstance(error, SessionFileError):
        return error
    if isinstance(error, TooLargeError):
        return SessionFileError(f"{path} cannot hold {error}.")
    if isinstance(error, OverflowError):
        return SessionFileError(f"{path} cannot hold a figure beyond 64 bits; use smaller problems.")
    if not isinstance(error, sqlite3.Error):
        return SessionFileError(f"{path} cannot hold all that was said ({type(error).__name__}: {error}).")
    if "is full" in str(error) and path.stat().st_size > MAX_FILE_BYTES // 2:
        most = f"{MAX_FILE_BYTES >> 20} MiB"
        return SessionFileError(f"{path} is as large as a session may be ({most}), or the disk is full.")
    return explain_sqlite(error, path)
