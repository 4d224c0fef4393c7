"""What can go wrong with a session file, each in one sentence that names the file and the remedy."""

import errno
import sqlite3
from pathlib import Path


class SessionFileError(Exception):
    """A session file cannot be read or written; the text says what is wrong, where, and what to do.

    Attributes:
        detail: What SQLite reports, for who wants to know more; empty when the text says it all.
    """

    def __init__(self, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.detail = detail


class ForeignFileError(SessionFileError):
    """The file is not a Flashscope session."""


class CorruptFileError(SessionFileError):
    """The file is a session, but damaged or tampered with."""


class AlteredFileError(CorruptFileError):
    """Some of a file's rows, readings for one, are not what was recorded; the others can be used."""


class EmptyFileError(SessionFileError):
    """Nothing was recorded in the file yet, or its writer was killed before that."""


class NewerFileError(SessionFileError):
    """The file was written by a newer Flashscope."""


class BusyFileError(SessionFileError):
    """Another process is writing the file."""


class TakenFileError(SessionFileError):
    """There is a file of this name already."""


class ChangedFileError(SessionFileError):
    """Another program has changed what was to be changed."""


REPLACED = "{} was replaced or written by another program"


class ReplacedFileError(SessionFileError):
    """The file holds another session than the one that is meant.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path, detail: str = "") -> None:
        super().__init__(
            f"{REPLACED.format(path.name)} and does not hold what is on show any more; nothing was done. "
            "Reload it to see what it holds, or export the figures on show.",
            detail,
        )
        self.path = path


class MovedFileError(SessionFileError):
    """The file was moved or replaced while it was recorded; what it held is in another one now."""


_BY_TEXT: tuple[tuple[str, type[SessionFileError], str], ...] = (
    ("not a database", ForeignFileError, "is not a Flashscope session; choose a .flashscope file"),
    ("disk is full", SessionFileError, "could not be written: the disk is full; free some space"),
    ("locked", BusyFileError, "is being written by another process; try again when its sweep has ended"),
    ("readonly", SessionFileError, "cannot be written: it or its folder is read-only; copy it elsewhere"),
    ("unable to open", SessionFileError, "cannot be opened: check the permissions of it and its folder"),
    ("disk I/O error", SessionFileError, "could not be read or written: the disk reports an error"),
)


_REMEDIES: tuple[tuple[frozenset[int | None], str], ...] = (
    (
        frozenset({errno.EACCES, errno.EPERM}),
        "change its permissions, or choose a folder you can write to (for your sessions: FLASHSCOPE_HOME)",
    ),
    (frozenset({errno.EROFS}), "choose a folder you can write to (for your sessions: FLASHSCOPE_HOME)"),
    (frozenset({errno.ENOSPC, errno.EDQUOT}), "free some space, or choose another disk"),
    (frozenset({errno.ENOENT}), "check the name"),
)


def explain_sqlite(error: sqlite3.Error, path: Path) -> SessionFileError:
    """The sentence for what SQLite reports about a file."""
    text = str(error)
    for fragment, kind, sentence in _BY_TEXT:
        if fragment in text:
            return kind(f"{path} {sentence}.")
    return damaged(path, text)


def damaged(path: Path, detail: str) -> CorruptFileError:
    """The sentence for a file that SQLite finds damaged."""
    return CorruptFileError(f"{path} is damaged; use a copy of it if you have one.", detail)


def empty(path: Path) -> EmptyFileError:
    """The sentence for a file of a sweep that was not begun."""
    return EmptyFileError(f"{path} is empty: no sweep was recorded in it. If none is beginning, delete it.")


def explain_os(error: OSError, path: Path) -> SessionFileError:
    """The sentence for what the operating system reports about a file."""
    remedy = next((text for numbers, text in _REMEDIES if error.errno in numbers), "choose another place")
    return SessionFileError(f"{path} cannot be used: {error.strerror or error}; {remedy}.")
