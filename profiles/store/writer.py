"""The recorder: writes a session's file as its events arrive."""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from profiles.results.session import Session
from profiles.store.beside import leftovers
from profiles.store.errors import (
    MovedFileError,
    SessionFileError,
    TakenFileError,
    explain_os,
    explain_sqlite,
)
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
PASSING = (sqlite3.OperationalError, MemoryError)  # a later attempt may do better: disk full, locked, ...
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

    What cannot be written, be it the file itself, is kept and tried again with the next event. A file that is
    moved or replaced while it is recorded goes on in another one beside it.

    Args:
        path: The file to make.
        numbered: Whether a name that is taken may get -2, -3, ... before its suffix.

    Attributes:
        path: The file; before it is created, the one wanted.
    """

    def __init__(self, path: Path, *, numbered: bool = False) -> None:
        self.path = path
        self._numbered = numbered
        self._opening: PlanStarted | None = None
        self._connection: sqlite3.Connection | None = None
        self._identity = (0, 0)
        self._waiting: list[Recorded | Readings] = []
        self._readings_written_ns: int | None = None

    @property
    def created(self) -> bool:
        """Whether the file is there."""
        return self._identity != (0, 0)

    def record(self, event: Event) -> None:
        """Take in one event of a run; the file is created by its PlanStarted.

        Raises:
            TakenFileError: There is a file of this name already.
            MovedFileError: All is written, but into another file: `path` names it.
            SessionFileError: It cannot be written (no permission, disk full, ...).
        """
        if isinstance(event, PlanStarted):
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
            self._connection = self._create(self._opening)
        before, moved = self.path, self._has_moved()
        if moved:
            self._connection = self._copied(self._connection)
        self._write_waiting(self._connection)
        if moved:
            text = f"{before} was moved or replaced while it was recorded; it goes on in {self.path}."
            raise MovedFileError(text)

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

    def _create(self, event: PlanStarted) -> sqlite3.Connection:
        session = Session.begin(event)
        path = _create_free(self.path) if self._numbered else _create_file(self.path)
        try:
            connection = _begin_file(path, session)
        except Exception as error:
            explained = _explained(error, path)
            path.unlink()
            raise explained from error
        self.path, self._identity = path, _identity(path)
        return connection

    def _has_moved(self) -> bool:
        """Whether another file, or none, bears the name of this one."""
        try:
            return _identity(self.path) != self._identity
        except FileNotFoundError:
            return True
        except OSError:  # the disk cannot be asked: writing will tell
            return False

    def _copied(self, source: sqlite3.Connection) -> sqlite3.Connection:
        """What a file holds that bears its name no more, in a new one under that name or one beside it."""
        path = _create_free(self.path)
        target: sqlite3.Connection | None = None
        try:
            target = connect(path, "rw")
            if source.in_transaction:  # of which no copy can be made; nothing waits in it
                source.execute("ROLLBACK")
            source.backup(target)
            target.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if target is not None:
                target.close()
            explained = _explained(error, path)
            path.unlink()
            raise explained from error
        source.close()
        self.path, self._identity = path, _identity(path)
        return target

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
        except PASSING:
            raise
        except Exception:
            del self._waiting[done]  # it cannot be stored by a later attempt either
            raise


def check_place(path: Path) -> None:
    """Prove that a session can be recorded at this path, and make its folder if need be; no file is left.

    Raises:
        SessionFileError: It cannot; the text says why and what to do.
    """
    folder, length = path.absolute().parent, len(os.fsencode(path.name))
    trial = folder / f".{secrets.token_hex(length)}"[:length]  # SQLite puts a journal beside it, named longer
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.close(os.open(trial, os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise explain_os(error, path) from error
    try:
        with closing(connect(trial, "rw")) as connection:
            connection.execute("CREATE TABLE trial (one)")
    except sqlite3.Error as error:
        if "unable to open" in str(error):
            raise SessionFileError(
                f"{path} is too long for a session's file; choose a shorter path."
            ) from error
        raise explain_sqlite(error, path) from error
    finally:
        trial.unlink()


def _create_free(path: Path) -> Path:
    """Make an empty file of this name, or of the first with a number that is free; returns its path."""
    names = _names(path)
    while True:
        with suppress(TakenFileError):
            return _create_file(next(names))


def _names(path: Path) -> Iterator[Path]:
    yield path
    for number in count(2):
        yield path.with_stem(f"{path.stem}-{number}")


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _create_file(path: Path) -> Path:
    """Make the empty file, and the folders it is in; an existing file is never written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os(error, path.parent) from error
    if not path.exists() and (found := leftovers(path)):
        raise TakenFileError(f"{found[0]} is in the way; name another file or remove it.")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError as error:
        if path.is_file() and being_written(path):
            raise TakenFileError(
                f"{path} is being recorded by {_writer(path)}; name another file."
            ) from error
        raise TakenFileError(f"{path} exists already; name another file or remove it.") from error
    except OSError as error:
        raise explain_os(error, path) from error
    return path


def _begin_file(path: Path, session: Session) -> sqlite3.Connection:
    """Write the tables and the plan into an empty file, all or nothing, and keep its write lock."""
    connection = connect(path, "rw")
    try:
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute(f"PRAGMA max_page_count = {MAX_FILE_BYTES // page_bytes}")
        connection.execute("BEGIN IMMEDIATE")
        migrate(connection)
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


def _explained(error: Exception, path: Path) -> SessionFileError:
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
