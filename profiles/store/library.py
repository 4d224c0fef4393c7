"""The user's sessions as files: where they are, what is in each, renaming, deleting and taking it back."""

import os
import sqlite3
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import platformdirs

from flashscope.home import OWN_FILE, make_own_folder, own_home
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.store.copying import copy_session
from flashscope.profiles.store.errors import BusyFileError, SessionFileError, explain_os, explain_sqlite
from flashscope.profiles.store.opening import being_written, settle
from flashscope.profiles.store.reader import read_words
from flashscope.profiles.store.schema import MAX_NAME, SUFFIX
from flashscope.profiles.store.sidecars import leftovers
from flashscope.profiles.store.words import change

TRASH = ".trash"
COPY = " (copy)"


def sessions_dir() -> Path:
    """Where sessions go that were given no place: the user's data folder, or `$FLASHSCOPE_HOME/sessions`."""
    return (own_home() or platformdirs.user_data_path("flashscope", appauthor=False)) / "sessions"


def new_session_path(folder: Path, backend: Backend, started: datetime) -> Path:
    """A free file name in the folder, made of the start and the backend; nothing is created."""
    return _free(folder / f"{started:%Y-%m-%d-%H%M%S}-{backend}{SUFFIX}")


def trash(path: Path) -> Path:
    """Move a session file into the `.trash` folder beside it; returns where it is now, for `restore`.

    Raises:
        BusyFileError: It is being recorded.
        SessionFileError: It cannot be moved, or is there already.
    """
    if path.parent.name == TRASH:
        raise SessionFileError(f"{path} is in the trash already.")
    try:
        if path.stat().st_size and being_written(path):
            raise BusyFileError(f"{path} is being recorded; delete it when its sweep has ended.")
        _settle_session(path)
        make_own_folder(path.parent / TRASH)
        return _move(path, path.parent / TRASH / path.name)
    except OSError as error:
        raise explain_os(error, path) from error
    except sqlite3.Error as error:
        raise explain_sqlite(error, path) from error


def restore(trashed: Path, home: Path | None = None) -> Path:
    """Move a file that `trash` moved back to where it was; returns its path, a new one if that is taken.

    Args:
        trashed: Where it is.
        home: Where it was; None: beside the trash, by the name that it has there.

    Raises:
        SessionFileError: It cannot be moved, or is not in the trash.
    """
    if trashed.parent.name != TRASH:
        raise SessionFileError(f"{trashed} is not in the trash; nothing was moved.")
    try:
        return _move(trashed, home or trashed.parent.parent / trashed.name)
    except OSError as error:
        raise explain_os(error, trashed) from error


def duplicate(path: Path, folder: Path) -> Path:
    """Copy a session into a folder under a free file name, called a copy of it; returns the copy's path.

    Args:
        path: The session.
        folder: Where the copy goes; made if it is not there.

    Raises:
        SessionFileError: It cannot be read, or the copy not be written.
    """
    try:
        make_own_folder(folder)
        target = _taken(folder / path.name)
    except OSError as error:
        raise explain_os(error, folder) from error
    try:
        copy_session(path, target)
        name = str(read_words(target)["name"]) or path.stem
        change(target, "name", f"{name[: MAX_NAME - len(COPY)]}{COPY}")
    except SessionFileError:
        target.unlink()
        raise
    return target


def _settle_session(path: Path) -> None:
    try:
        settle(path)
    except sqlite3.OperationalError:  # the disk is full, the file is held, ...
        raise
    except sqlite3.DatabaseError:
        pass  # what is no database, or a damaged one, is not made whole by what lies beside it


def _move(path: Path, wanted: Path) -> Path:
    """Rename a file to this name or one with a number, which is made ours first: others may want it, too."""
    target = _taken(wanted)
    try:
        return path.rename(target)
    except OSError:
        target.unlink()
        raise


def _taken(wanted: Path) -> Path:
    """A free name like this one, with an empty file in its place."""
    while True:
        target = _free(wanted)
        with suppress(FileExistsError):
            os.close(os.open(target, os.O_CREAT | os.O_EXCL, OWN_FILE))
            return target


def _free(path: Path) -> Path:
    """The path, or with -2, -3, ... before its suffix when it is taken."""
    candidate, n = path, 1
    while os.path.lexists(candidate) or leftovers(candidate):  # False where the folder may not be looked into
        n += 1
        candidate = path.with_stem(f"{path.stem}-{n}")
    return candidate
