"""What lies beside a session file: the journal of a write, or things that are none of ours.

SQLite opens, applies and deletes whatever is named FILE-journal or FILE-wal, by the name alone. So these are
looked at first, and SQLite meets them beside a private copy only.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeGuard

from flashscope.profiles.store.errors import CorruptFileError
from flashscope.profiles.store.recording_here import is_recorded_here
from flashscope.profiles.store.schema import APPLICATION_ID, MAX_FILE_BYTES

ENDS = ("-journal", "-wal")
WAL_MODE = b"\x02"  # at byte 19 of a file that is written ahead; a session's is 1
JOURNAL = bytes.fromhex("d9d505f920a163d7")  # begins a journal; ends one that has SQLite delete others, too


class Sidecars(NamedTuple):
    """What lies beside a file.

    Attributes:
        journal: A plain file named as a rollback journal, None when there is none or it is empty.
        wal: A plain file named as a write-ahead log, None when there is none.
        strange: What no session has beside it: any write-ahead log, and a journal that is no plain file.
    """

    journal: Path | None
    wal: Path | None
    strange: tuple[Path, ...]

    @classmethod
    def of(cls, path: Path) -> "Sidecars":
        """What lies beside a file now; nothing is opened. Links count as strange, wherever they lead.

        Each is looked at once: a live writer may remove its journal at any moment.
        """
        real = path.resolve()
        journal, wal = (real.with_name(real.name + end) for end in ENDS)
        of_journal, of_wal = _look(journal), _look(wal)
        odd_journal = of_journal is not None and not _plain(of_journal)
        return cls(
            journal=journal if _plain(of_journal) and of_journal.st_size else None,
            wal=wal if _plain(of_wal) else None,
            strange=tuple(p for p, odd in ((journal, odd_journal), (wal, of_wal is not None)) if odd),
        )


def leftovers(path: Path) -> tuple[Path, ...]:
    """Whatever has the name of something that lies beside a file, also where there is no such file."""
    real = Path(os.path.realpath(path))  # unlike resolve, it takes a link to itself
    return tuple(p for p in (real.with_name(real.name + end) for end in ENDS) if os.path.lexists(p))


@contextmanager
def private_copy(path: Path, side: Path | None) -> Iterator[Path]:
    """A copy of a file in a folder of its own, with what belongs beside it; both are gone afterwards.

    Raises:
        CorruptFileError: What lies beside it cannot be a session's.
        OSError: There is no room for a copy, or the file is gone.
    """
    if side is not None:
        _check_side(side)
    with tempfile.TemporaryDirectory(prefix="flashscope-") as folder:
        copy = Path(folder) / path.resolve().name
        shutil.copyfile(path, copy)
        if side is not None:
            shutil.copyfile(side, copy.with_name(side.name))
        yield copy


def is_journal(side: Path) -> bool:
    """Whether SQLite wrote a file; the first bytes of a journal that never reached the disk are zeros."""
    try:
        with side.open("rb") as file:
            return file.read(len(JOURNAL)) in {JOURNAL, bytes(len(JOURNAL))}
    except FileNotFoundError:  # a live writer removes its journal
        return True


def is_wal_mode(path: Path) -> bool:
    """Whether a file says of itself that it is written ahead; one that this process records never is."""
    if is_recorded_here(path):
        return False
    with path.open("rb") as file:
        return file.read(20)[19:] == WAL_MODE


def holds_session(path: Path) -> bool:
    """Whether a file says of itself that it is a session; one that this process records is."""
    if is_recorded_here(path):
        return True
    with path.open("rb") as file:
        return file.read(72)[68:] == APPLICATION_ID.to_bytes(4, "big")  # sqlite.org/fileformat2.html


def _check_side(side: Path) -> None:
    if side.stat().st_size > MAX_FILE_BYTES:
        raise CorruptFileError(f"{side} is larger than any session; move it away to open the session.")
    with side.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - len(JOURNAL)))
        if file.read() == JOURNAL:
            raise CorruptFileError(
                f"{side} names other files, which no session's journal does; it was not used."
            )


def _look(path: Path) -> os.stat_result | None:
    """What is there; None: nothing, or it may not be looked at."""
    try:
        return path.lstat()
    except OSError:
        return None


def _plain(found: os.stat_result | None) -> TypeGuard[os.stat_result]:
    return found is not None and stat.S_ISREG(found.st_mode)
