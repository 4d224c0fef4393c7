"""Opening a session file: for reading with suspicion, for writing with durability.

The defences are those of sqlite.org/security.html for files from elsewhere: nothing that a file defines is
ever executed, because its definitions must equal those of this program to the letter.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from flashscope.profiles.store.errors import (
    BusyFileError,
    CorruptFileError,
    ForeignFileError,
    NewerFileError,
    SessionFileError,
    damaged,
    empty,
    explain_os,
    explain_sqlite,
)
from flashscope.profiles.store.migrations import migrate
from flashscope.profiles.store.recording_here import is_recorded_here
from flashscope.profiles.store.schema import (
    APPLICATION_ID,
    MAX_FILE_BYTES,
    MAX_VALUE_BYTES,
    VERSION,
    expected_schema,
    schema_of,
)
from flashscope.profiles.store.sidecars import Sidecars, is_journal, is_wal_mode, private_copy

BUSY_TIMEOUT_S = 5.0
ASKING_S = 0.1  # after which who holds the lock does more than ask for it
TRIES = 5
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
    """A checked view of a session file at the newest version, consistent while it is open.

    Neither the file nor anything beside it is changed: a file of an older version is migrated in memory, and
    a write that was cut off is undone in a private copy.

    Raises:
        SessionFileError: Or one of its subclasses, saying what is wrong with the file.
    """
    with checked(path) as (connection, version):
        if version == VERSION:
            yield connection
        else:
            with closing(_migrated_copy(connection)) as migrated:
                yield migrated


@contextmanager
def checked(path: Path) -> Iterator[tuple[sqlite3.Connection, int]]:
    """As `opened`, but a file of an older version stays one; its version stands beside it."""
    check_regular(path)
    with ExitStack() as stack:
        try:
            connection = _as_it_stands(path, stack)
            connection.execute("BEGIN")
            yield connection, _check(connection, path)
        except sqlite3.Error as error:
            raise explain_sqlite(error, path) from error
        except OSError as error:
            raise explain_os(error, path) from error


def _as_it_stands(path: Path, stack: ExitStack) -> sqlite3.Connection:
    """A connection to the file as its last finished transaction left it; it closes with the stack."""
    beside = Sidecars.of(path)
    if beside.strange and is_wal_mode(path):
        return _copied(path, beside.wal, stack)
    if beside.strange and beside.journal:
        return _copied(path, beside.journal, stack)
    if not beside.strange and _needs_wal(path):
        return _copied(path, None, stack)
    if not beside.strange and _cut_off(path):
        return _copied(path, beside.journal, stack)
    mode = "ro&immutable=1" if beside.strange else "ro"  # immutable: SQLite looks at nothing beside it
    return stack.enter_context(closing(connect(path, mode)))


def _copied(path: Path, side: Path | None, stack: ExitStack) -> sqlite3.Connection:
    """A connection to a private copy, into which SQLite has worked what lay beside the file."""
    copy = stack.enter_context(private_copy(path, side))
    connection = stack.enter_context(closing(connect(copy, "rw")))
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    if copy.stat().st_size == 0:  # its first write was cut off
        raise empty(path)
    if max(pages * page_bytes, copy.stat().st_size) > MAX_FILE_BYTES:
        raise CorruptFileError(f"{path} would grow beyond any session by what lies beside it; not opened.")
    return connection


def connect(path: Path, mode: str, timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Connect to an existing file (`ro` or `rw`); a missing one is never created.

    What another connection holds is waited for until `timeout_s` seconds have passed, here and later.
    """
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        uri, uri=True, timeout=timeout_s, isolation_level=None, check_same_thread=False
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
    """A transaction on a checked session file; a file of an older version is brought up to date in it.

    Raises:
        BusyFileError: A recorder is writing it.
        SessionFileError: It cannot be opened or written.
    """
    make_ready(path)
    try:
        with closing(connect(path, "rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            migrate(connection)
            yield connection
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise explain_sqlite(error, path) from error


def make_ready(path: Path) -> None:
    """Check a session file that is to be written, and bring what belongs to it into it.

    Raises:
        BusyFileError: A recorder is writing it.
        SessionFileError: It cannot be opened or written.
    """
    with opened(path):
        pass
    if being_written(path):
        raise BusyFileError(f"{path} is being recorded; change it when its sweep has ended.")
    try:
        settle(path)
    except sqlite3.Error as error:
        raise explain_sqlite(error, path) from error
    if strange := Sidecars.of(path).strange:
        raise SessionFileError(f"{strange[0]} is no part of a session: move it away, then try again.")


def check_editable(path: Path) -> None:
    """Refuse a session file that could not be written: a write is begun and taken back.

    Raises:
        BusyFileError: A recorder is writing it.
        SessionFileError: It cannot be opened or written.
    """
    make_ready(path)
    try:
        with closing(connect(path, "rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA user_version = {VERSION}")  # only a write finds it read-only
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise explain_sqlite(error, path) from error


def settle(path: Path) -> None:
    """Bring what belongs to a file into it: undo a write that was cut off, or take in what was written ahead.

    What lies beside it and does not belong to it is left alone.
    """
    beside = Sidecars.of(path)
    written_ahead = beside.strange == (beside.wal,) and is_wal_mode(path)
    if written_ahead or (beside.journal and not beside.strange):
        with closing(connect(path, "rw")) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()


def being_written(path: Path) -> bool:
    """Whether a live recorder holds the file: it keeps SQLite's write lock, which dies with its process.

    Nothing is written to find out: a file that asking would change has no live recorder. Another
    who asks has the lock for a moment; that is waited for and no more, since who asks may be reading, and a
    recorder waits for its readers.
    """
    if is_recorded_here(path):
        return True
    beside = Sidecars.of(path)
    if not os.access(path, os.W_OK) or beside.strange or (beside.journal and not is_journal(beside.journal)):
        return False
    if _needs_wal(path) or _cut_off(path):
        return False
    try:
        with closing(connect(path, "rw", ASKING_S)) as connection:
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
        raise empty(path)
    if found.st_size > MAX_FILE_BYTES:
        raise ForeignFileError(f"{path} is larger than any session ({MAX_FILE_BYTES >> 20} MiB); not opened.")
    if not os.access(path, os.R_OK):
        raise SessionFileError(f"{path} may not be read by you: change its permissions.")


def _cut_off(path: Path) -> bool:
    """Whether a write was cut off by a crash: there is a journal to undo it, and no live writer.

    SQLite, which may only read here, asks to write for that.
    """
    if Sidecars.of(path).journal is None:
        return False
    try:
        with closing(connect(path, "ro", timeout_s=0)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        return "readonly" in str(error)
    return False


def _needs_wal(path: Path) -> bool:
    """Whether the file is in write-ahead mode, as other programs leave them: even reading would leave files.

    Without locks SQLite cannot open such a file. Nor can it, for once, when a live recorder removes its
    journal at this very moment: hence the tries.
    """
    return all(_cannot_open_without_locks(path) for _ in range(TRIES))


def _cannot_open_without_locks(path: Path) -> bool:
    uri = f"{path.absolute().as_uri()}?mode=ro&nolock=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        return "unable to open" in str(error)
    return False


def _check(connection: sqlite3.Connection, path: Path) -> int:
    """Refuse what this program did not write, or nothing into; returns the file's version."""
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
    _check_end(connection, path)
    if connection.execute("SELECT 1 FROM session UNION ALL SELECT 1 FROM points").fetchone() is None:
        raise empty(path)
    return int(version)


def _check_end(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file whose last page is cut off: SQLite reads zeros there, which an empty table is made of."""
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    connection.text_factory = bytes  # a path need not be UTF-8
    (_number, _name, file) = connection.execute("PRAGMA database_list").fetchone()
    connection.text_factory = str
    if os.stat(file).st_size % page_bytes:  # noqa: PTH116 - bytes
        raise damaged(path, "its last page is cut off")


def _migrated_copy(connection: sqlite3.Connection) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.backup(copy)
        migrate(copy)
    except BaseException:
        copy.close()
        raise
    return copy
