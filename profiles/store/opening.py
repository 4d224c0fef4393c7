"""Opening a session file: for reading with suspicion, for writing with durability.

The defences are those of sqlite.org/security.html for files from elsewhere: nothing that a file defines is
ever executed, because its definitions must equal those of this program to the letter.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from profiles.store.errors import (
    BusyFileError,
    CorruptFileError,
    ForeignFileError,
    NewerFileError,
    SessionFileError,
    damaged,
    explain_os,
    explain_sqlite,
)
from profiles.store.migrations import migrate
from profiles.store.schema import (
    APPLICATION_ID,
    MAX_FILE_BYTES,
    MAX_VALUE_BYTES,
    VERSION,
    expected_schema,
    schema_of,
)

BUSY_TIMEOUT_S = 5.0
SUPER_JOURNAL = bytes.fromhex(
    "d9d505f920a163d7"
)  # ends a journal that has SQLite look at, and delete, others
PRAGMAS = ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "synchronous = EXTRA")
# (name of the limit, value); Connection.setlimit exists from Python 3.11. On 3.10 the bound on the file's
# size and the exact comparison of its schema remain.
LIMITS = (
    ("SQLITE_LIMIT_LENGTH", MAX_VALUE_BYTES),
    ("SQLITE_LIMIT_SQL_LENGTH", 100_000),
    ("SQLITE_LIMIT_COLUMN", 100),
    ("SQLITE_LIMIT_EXPR_DEPTH", 10),
    ("SQLITE_LIMIT_COMPOUND_SELECT", 3),
    ("SQLITE_LIMIT_VDBE_OP", 25_000),
    ("SQLITE_LIMIT_FUNCTION_ARG", 8),
    ("SQLITE_LIMIT_ATTACHED", 0),
    ("SQLITE_LIMIT_LIKE_PATTERN_LENGTH", 50),
    ("SQLITE_LIMIT_VARIABLE_NUMBER", 32),
    ("SQLITE_LIMIT_TRIGGER_DEPTH", 1),
)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A checked, read-only view of a session file at the newest version, consistent while it is open.

    A file of an older version is migrated in memory; the file itself stays as it is.

    Raises:
        SessionFileError: Or one of its subclasses, saying what is wrong with the file.
    """
    check_regular(path)
    connection: sqlite3.Connection | None = None
    try:
        recover(path)
        _refuse_wal(path)
        connection = connect(path, "ro")
        connection.execute("BEGIN")
        version = _check(connection, path)
        if version < VERSION:
            connection = _migrated_copy(connection)
        yield connection
    except sqlite3.Error as error:
        raise explain_sqlite(error, path) from error
    finally:
        if connection is not None:
            connection.close()


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Connect to an existing file (`ro` or `rw`); a missing one is never created."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    if hasattr(connection, "setlimit"):
        for name, value in LIMITS:
            connection.setlimit(getattr(sqlite3, name), value)
    try:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def editing(path: Path) -> Iterator[sqlite3.Connection]:
    """A transaction on a checked session file; a file of an older version is brought up to date first.

    Raises:
        BusyFileError: A recorder is writing it.
        SessionFileError: It cannot be opened or written.
    """
    with opened(path):
        pass
    if being_written(path):
        raise BusyFileError(f"{path} is being recorded; change it when its sweep has ended.")
    connection: sqlite3.Connection | None = None
    try:
        connection = connect(path, "rw")
        migrate(connection)
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise explain_sqlite(error, path) from error
    finally:
        if connection is not None:
            connection.close()


def being_written(path: Path) -> bool:
    """Whether a live recorder holds the file: it keeps SQLite's write lock, which dies with its process."""
    if not os.access(path, os.W_OK):
        return False
    try:
        with closing(connect(path, "rw")) as connection:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        return "locked" in str(error)
    return False


def check_regular(path: Path) -> None:
    """Refuse what is missing, not a plain file, empty or too large, without opening it."""
    try:
        found = path.stat()
    except OSError as error:
        raise explain_os(error, path) from error
    if stat.S_ISDIR(found.st_mode):
        raise SessionFileError(f"{path} is a folder; choose a .flashscope file in it.")
    if not stat.S_ISREG(found.st_mode):
        raise ForeignFileError(f"{path} is not a plain file.")
    if found.st_size == 0:
        raise CorruptFileError(f"{path} is empty: nothing was written to it before its writer ended.")
    if found.st_size > MAX_FILE_BYTES:
        raise ForeignFileError(f"{path} is larger than any session ({MAX_FILE_BYTES >> 20} MiB); not opened.")
    if not os.access(path, os.R_OK):
        raise SessionFileError(f"{path} may not be read by you: change its permissions.")


def recover(path: Path) -> None:
    """Undo a write that was cut off by a crash, so that the file can be read without writing.

    SQLite does this when a file with a journal beside it is opened for writing and read.
    """
    journal = path.with_name(path.name + "-journal")
    ending = _ending(journal, len(SUPER_JOURNAL))
    if not ending:
        return
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise SessionFileError(
            f"{path} was cut off in the middle of a write and must be repaired, but it is read-only: "
            f"copy it together with {journal.name} to a folder you can write to."
        )
    if ending == SUPER_JOURNAL:
        raise CorruptFileError(
            f"{journal} names other files, which no session's journal does; it was not used."
        )
    with closing(connect(path, "rw")) as connection:
        connection.execute("PRAGMA schema_version").fetchone()


def _ending(path: Path, size: int) -> bytes:
    """The last bytes of a file; nothing when it is missing: a live writer removes its journal."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - size))
            return file.read()
    except FileNotFoundError:
        return b""


def _refuse_wal(path: Path) -> None:
    """Refuse a file in write-ahead mode, which no session uses: merely reading it leaves files beside it.

    Without locks SQLite cannot open such a file, nor one that a live recorder is changing at this moment.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro&nolock=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError as error:
        if not being_written(path):
            raise ForeignFileError(f"{path} is a database of another kind than a session.") from error


def _check(connection: sqlite3.Connection, path: Path) -> int:
    """Refuse what this program did not write; returns the file's version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise ForeignFileError(f"{path} is a database of another program, not a Flashscope session.")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise NewerFileError(
            f"{path} has format version {version}, this Flashscope reads up to {VERSION}: "
            "open it with a newer Flashscope."
        )
    if version < 1 or schema_of(connection) != expected_schema(version):
        raise CorruptFileError(
            f"{path} defines other tables, triggers or views than a session does; it was not opened."
        )
    (verdict, *_) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise damaged(path, str(verdict))
    return int(version)


def _migrated_copy(connection: sqlite3.Connection) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:", isolation_level=None)
    connection.backup(copy)
    connection.close()
    migrate(copy)
    return copy
