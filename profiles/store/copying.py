"""Copies of session files: what a file holds, which is not always what its bytes say."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from flashscope.home import OWN_FILE
from flashscope.profiles.store.errors import SessionFileError, explain_os, explain_sqlite
from flashscope.profiles.store.mark import SessionMark
from flashscope.profiles.store.opening import being_written, checked, connect
from flashscope.profiles.store.reader import read_mark


def copy_session(path: Path, target: Path, meant: SessionMark | None = None) -> None:
    """Write what a session file holds into another, which stands there whole or not at all.

    The bytes alone would not do: a write that was cut off, or is under way, is undone by the journal beside
    them. Nor may they be read where this process records the file: its lock would be lost.

    Args:
        path: The session; it stays as it is, and so does its version.
        target: The file to make; one that is there is replaced.
        meant: The session that is to be copied; None: whichever is there.

    Raises:
        ReplacedFileError: The file holds another one than is meant; the target stays as it is.
        SessionFileError: The session cannot be opened, or the target not be written.
    """
    recorded = being_written(path)
    with checked(path) as (source, _version):
        if target.exists() and target.samefile(path):
            raise SessionFileError(f"{target} is the session itself; choose another name.")
        try:
            with tempfile.TemporaryDirectory(prefix=".flashscope-", dir=target.parent) as folder:
                part = Path(folder) / "copy"
                part.touch(OWN_FILE)
                _fill(part, source)
                if meant is not None:
                    meant.check(path, read_mark(part)[0], recorded=recorded)
                part.replace(target)
        except sqlite3.Error as error:
            raise explain_sqlite(error, target) from error
        except OSError as error:
            raise explain_os(error, target) from error


def _fill(part: Path, source: sqlite3.Connection) -> None:
    with closing(connect(part, "rw")) as connection:
        source.backup(connection)
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()  # it may have been written ahead
