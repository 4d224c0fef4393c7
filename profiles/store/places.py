"""Where a recorder's file can stand: names that are free, and places that can be written to."""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from flashscope.home import OWN_FILE, make_own_folder
from flashscope.profiles.store.errors import (
    CorruptFileError,
    SessionFileError,
    TakenFileError,
    explain_os,
    explain_sqlite,
)
from flashscope.profiles.store.opening import being_written, connect
from flashscope.profiles.store.sidecars import Sidecars, is_journal, leftovers, private_copy


def check_place(path: Path) -> None:
    """Prove that a session can be recorded at this path, and make its folder if need be; no file is left.

    Raises:
        SessionFileError: It cannot; the text says why and what to do.
    """
    folder, length = path.absolute().parent, len(os.fsencode(path.name))
    trial = folder / f".{secrets.token_hex(length)}"[:length]  # SQLite puts a journal beside it, named longer
    try:
        make_own_folder(folder)
        os.close(os.open(trial, os.O_CREAT | os.O_EXCL, OWN_FILE))
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


def create_free(path: Path) -> Path:
    """Make an empty file of this name, or of the first with a number that is free; returns its path."""
    names = _names(path)
    while True:
        with suppress(TakenFileError):
            return create_file(next(names))


def _names(path: Path) -> Iterator[Path]:
    yield path
    for number in count(2):
        yield path.with_stem(f"{path.stem}-{number}")


def create_or_take(path: Path) -> Path:
    """Make the empty file, or take one over in which nothing was ever committed; others are left alone."""
    return path if never_begun(path) else create_file(path)


def never_begun(path: Path) -> bool:
    """Whether a file holds nothing: what is left of a writer that was killed while it made its file.

    Such a file is empty, or will be once the journal beside it has been rolled back; tried on a copy.
    """
    try:
        return _plain_file(path) and not being_written(path) and _holds_nothing(path, Sidecars.of(path))
    except (OSError, sqlite3.Error, CorruptFileError):
        return False


def _plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _holds_nothing(path: Path, beside: Sidecars) -> bool:
    if beside.strange or not (beside.journal is None or is_journal(beside.journal)):
        return False
    if path.stat().st_size == 0 or beside.journal is None:
        return path.stat().st_size == 0
    with private_copy(path, beside.journal) as copy, closing(connect(copy, "rw")) as connection:
        connection.execute("PRAGMA schema_version").fetchone()
        return copy.stat().st_size == 0


def create_file(path: Path) -> Path:
    """Make the empty file, and the folders it is in; an existing file is never written to."""
    try:
        make_own_folder(path.parent)
    except OSError as error:
        raise explain_os(error, path.parent) from error
    if not path.exists() and (found := leftovers(path)):
        raise TakenFileError(f"{found[0]} is in the way; name another file or remove it.")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWN_FILE))
    except FileExistsError as error:
        if path.is_file() and being_written(path):
            raise TakenFileError(
                f"{path} is being recorded by {_writer(path)}; name another file."
            ) from error
        raise TakenFileError(f"{path} exists already; name another file or remove it.") from error
    except OSError as error:
        raise explain_os(error, path) from error
    return path


def _writer(path: Path) -> str:
    try:
        with closing(connect(path, "ro")) as connection:
            (writer,) = connection.execute("SELECT writer FROM session").fetchone()
    except (sqlite3.Error, TypeError):
        return "another process"
    return str(writer)
