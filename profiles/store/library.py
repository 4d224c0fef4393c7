"""The user's sessions as files: where they are, what is in each, renaming, deleting and taking it back."""

import os
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec
import platformdirs

from kernels.problem import Backend, Dtype
from profiles.results.rest import OPEN
from profiles.store.beside import leftovers
from profiles.store.errors import BusyFileError, SessionFileError, explain_os, explain_sqlite
from profiles.store.opening import being_written, editing, opened, settle
from profiles.store.reader import read_head, validating
from profiles.store.schema import MAX_NAME, MAX_NOTE, SUFFIX
from profiles.wire.events import Outcome, PointStatus
from profiles.wire.text import in_utf8

TRASH = ".trash"


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a list shows of one file.

    Attributes:
        path: The file.
        size_bytes: Its size.
        error: Why it cannot be opened, empty when it can; then nothing below is known.
        id: The session's UUID in hex.
        name: The user's name for it; empty: named by its start.
        note: The user's words about it.
        started_at: Wall clock of the start, ISO 8601 with offset.
        backend: Where it ran.
        device: Name of the device that ran it.
        kernels: Kernels of its plan.
        seqlens: Query sequence lengths of its plan, rising.
        dtype: Element type of its first problem.
        outcome: How the sweep ended, None when it did not.
        statuses: Number of the plan's kernels x problems by status, as the file has them; a drift check's
            points are none of them.
    """

    path: Path
    size_bytes: int
    error: str = ""
    id: str = ""
    name: str = ""
    note: str = ""
    started_at: str = ""
    backend: Backend | None = None
    device: str = ""
    kernels: tuple[str, ...] = ()
    seqlens: tuple[int, ...] = ()
    dtype: Dtype | None = None
    outcome: Outcome | None = None
    statuses: dict[PointStatus, int] = {}

    @property
    def unfinished(self) -> bool:
        """Whether points of its plan have no answer yet, or its sweep was broken off."""
        return not self.error and (self.outcome != "finished" or not OPEN.isdisjoint(self.statuses))


def sessions_dir() -> Path:
    """Where sessions go that were given no place: the user's data folder, or `$FLASHSCOPE_HOME/sessions`."""
    home = os.environ.get("FLASHSCOPE_HOME")
    base = Path(home) if home else platformdirs.user_data_path("flashscope", appauthor=False)
    return base / "sessions"


def new_session_path(folder: Path, backend: Backend, started: datetime) -> Path:
    """A free file name in the folder, made of the start and the backend; nothing is created."""
    return _free(folder / f"{started:%Y-%m-%d-%H%M%S}-{backend}{SUFFIX}")


def list_sessions(folder: Path) -> list[SessionInfo]:
    """What is in each session file of a folder, newest first; unreadable ones come last, with the reason.

    No file keeps another from being listed, whatever is wrong with it.
    """
    listed = [_info(path) for path in folder.glob(f"*{SUFFIX}")]
    return sorted(listed, key=lambda info: (_moment(info.started_at), info.path.name), reverse=True)


def rename(path: Path, name: str) -> None:
    """Give a session another name (the file keeps its own); an empty one names it by its start.

    Raises:
        SessionFileError: The name is too long, or the file cannot be written.
    """
    _edit(path, "name", name.strip(), MAX_NAME)


def set_note(path: Path, note: str) -> None:
    """Replace the user's words about a session.

    Raises:
        SessionFileError: The note is too long, or the file cannot be written.
    """
    _edit(path, "note", note, MAX_NOTE)


def trash(path: Path) -> Path:
    """Move a session file into the `.trash` folder beside it; returns where it is now, for `restore`.

    Raises:
        BusyFileError: It is being recorded.
        SessionFileError: It cannot be moved.
    """
    try:
        if path.stat().st_size and being_written(path):
            raise BusyFileError(f"{path} is being recorded; delete it when its sweep has ended.")
        _settle_session(path)
        (path.parent / TRASH).mkdir(exist_ok=True)
        return _move(path, path.parent / TRASH / path.name)
    except OSError as error:
        raise explain_os(error, path) from error
    except sqlite3.Error as error:
        raise explain_sqlite(error, path) from error


def restore(trashed: Path) -> Path:
    """Move a file that `trash` moved back to where it was; returns its path, a new one if that is taken.

    Raises:
        SessionFileError: It cannot be moved.
    """
    try:
        return _move(trashed, trashed.parent.parent / trashed.name)
    except OSError as error:
        raise explain_os(error, trashed) from error


def _settle_session(path: Path) -> None:
    try:
        settle(path)
    except sqlite3.OperationalError:  # the disk is full, the file is held, ...
        raise
    except sqlite3.DatabaseError:
        pass  # what is no database, or a damaged one, is not made whole by what lies beside it


def _move(path: Path, wanted: Path) -> Path:
    """Rename a file to this name or one with a number, which is made ours first: others may want it, too."""
    while True:
        target = _free(wanted)
        with suppress(FileExistsError):
            os.close(os.open(target, os.O_CREAT | os.O_EXCL, 0o600))
            break
    try:
        return path.rename(target)
    except OSError:
        target.unlink()
        raise


def _edit(path: Path, column: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise SessionFileError(f"The {column} has {len(text)} characters; {longest} are allowed.")
    with editing(path) as connection:
        connection.execute(f"UPDATE session SET {column} = ?", (in_utf8(text),))  # noqa: S608 - one of our two columns


def _info(path: Path) -> SessionInfo:
    try:
        return _readable(path)
    except (SessionFileError, OSError) as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - see list_sessions
        reason = f"{path} cannot be read: {type(error).__name__}: {error}"
    return SessionInfo(path=path, size_bytes=_size(path), error=reason)


def _readable(path: Path) -> SessionInfo:
    with validating(path), opened(path) as connection:
        head, plan, machine = read_head(connection)
        counts = "SELECT status, count(*) FROM points WHERE point < ? GROUP BY status"
        listed = dict(connection.execute(counts, (plan.cells,)))
        statuses = msgspec.convert(listed, type=dict[PointStatus, int])
    device = machine.device(plan.backend)
    return SessionInfo(
        path=path,
        size_bytes=_size(path),
        id=head.id,
        name=head.name,
        note=head.note,
        started_at=head.started_at,
        backend=plan.backend,
        device=device.name if device else "",
        kernels=plan.kernels,
        seqlens=_rising(problem.seqlen_q for problem in plan.problems),
        dtype=plan.problems[0].dtype,
        outcome=head.outcome,
        statuses=statuses,
    )


def _size(path: Path) -> int:
    """The size in bytes, 0 of what is not there to be asked."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _rising(lengths: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(lengths)))


def _moment(started_at: str) -> float:
    """Seconds since 1970, for sorting; 0 where the clock of the file's machine cannot have been set."""
    try:
        return datetime.fromisoformat(started_at).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _free(path: Path) -> Path:
    """The path, or with -2, -3, ... before its suffix when it is taken."""
    candidate, n = path, 1
    while os.path.lexists(candidate) or leftovers(candidate):  # False where the folder may not be looked into
        n += 1
        candidate = path.with_stem(f"{path.stem}-{n}")
    return candidate
