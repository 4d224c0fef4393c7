"""Opening a session's file to go on recording in it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from flashscope.profiles.store.errors import BusyFileError, TakenFileError, explain_sqlite
from flashscope.profiles.store.migrations import migrate
from flashscope.profiles.store.opening import connect, make_ready
from flashscope.profiles.store.parts import is_next, write_part
from flashscope.profiles.store.schema import MAX_FILE_BYTES
from flashscope.profiles.wire.events import PlanResumed


def check_resumable(path: Path) -> None:
    """Prove that a sweep can go on in this file; it stays as it is.

    Raises:
        SessionFileError: It cannot; the text says why and what to do.
    """
    make_ready(path)
    try:
        with closing(connect(path, "rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE session SET writer = writer")
    except sqlite3.Error as error:
        raise explain_sqlite(error, path) from error


def resume_file(path: Path, event: PlanResumed) -> sqlite3.Connection:
    """Write another part's begin into a session's file, all or nothing, and keep its write lock.

    A file of an older version is brought up to date in the same transaction.

    Raises:
        TakenFileError: Another process records it, or has changed it since it was read.
        SessionFileError: It cannot be opened or written.
    """
    try:
        make_ready(path)
    except BusyFileError as error:
        raise TakenFileError(str(error)) from error
    connection = connect(path, "rw")
    try:
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute(f"PRAGMA max_page_count = {MAX_FILE_BYTES // page_bytes}")
        connection.execute("BEGIN IMMEDIATE")
        migrate(connection)
        _check_next(connection, event, path)
        write_part(connection, event)
        connection.execute("COMMIT")
        connection.execute("BEGIN IMMEDIATE")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_next(connection: sqlite3.Connection, event: PlanResumed, path: Path) -> None:
    if not is_next(connection, event):
        raise TakenFileError(f"{path} is not as it was when it was read: its sweep has gone on elsewhere.")
