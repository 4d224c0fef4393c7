"""Several sessions exported into one folder, a file each; what is there already stays."""

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event
from typing import NamedTuple

from flashscope.app.look.picture import PictureOptions
from flashscope.app.report.kinds import KINDS, report_bytes
from flashscope.app.shell.elsewhere import draw_elsewhere
from flashscope.app.words.results.provenance import of_session
from flashscope.app.words.results.sessions import as_file_name, named
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.profiles.store import SessionFileError, TakenFileError, load, write_atomically


class Exported(NamedTuple):
    """What became of an export of several sessions.

    Attributes:
        folder: Where they are.
        written: The files made.
        failed: Why others were not, each naming its session's file.
    """

    folder: Path
    written: tuple[Path, ...]
    failed: tuple[str, ...]

    @property
    def words(self) -> str:
        """How many there are, and what is wrong with the others."""
        asked = len(self.written) + len(self.failed)
        if not self.failed:
            return f"Exported {count_of(self.written)} to {self.folder}."
        return f"Exported {len(self.written)} of {asked} sessions to {self.folder}. {' '.join(self.failed)}"


def count_of(sessions: Sequence[object]) -> str:
    """How many sessions, in words."""
    return f"{len(sessions)} session{'s' * (len(sessions) != 1)}"


def export_each(
    paths: Sequence[Path], kind: str, look: PictureOptions, folder: Path, stopped: Event
) -> Exported:
    """Write a file of each session; for a thread that may wait.

    Args:
        paths: The sessions.
        kind: The format, a key of KINDS.
        look: How pictures are to look.
        folder: Where they go, under the sessions' names; one that is taken gets a number.
        stopped: Set where no more are to be written.
    """
    written: list[Path] = []
    failed: list[str] = []
    for path in paths:
        if stopped.is_set():
            break
        try:
            written.append(_export(path, kind, look, folder))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others are written
            failed.append(_why(error, path))
    return Exported(folder, tuple(written), tuple(failed))


def _export(path: Path, kind: str, look: PictureOptions, folder: Path) -> Path:
    session = load(path)
    if KINDS[kind].picture:
        content = _drawn(path, kind, look)
    else:
        content = report_bytes(kind, session, str(path), of_session(session, "saved"))
    return _written(folder, as_file_name(named(session, path)), KINDS[kind].suffix, content)


def _drawn(path: Path, kind: str, look: PictureOptions) -> bytes:
    with tempfile.TemporaryDirectory(prefix="flashscope-") as folder:
        target = Path(folder) / f"picture{KINDS[kind].suffix}"
        draw_elsewhere(path, kind, look, target)
        return target.read_bytes()


def _written(folder: Path, name: str, suffix: str, content: bytes) -> Path:
    """Write a file of that name or, where that is taken, of the first number that is free."""
    names = (f"{name}{f'-{number}' * (number > 1)}{suffix}" for number in count(1))
    while True:
        with suppress(TakenFileError):
            target = folder / next(names)
            write_atomically(target, content, replace=False)
            return target


def _why(error: Exception, path: Path) -> str:
    """Why a session was not exported, with its file."""
    known = isinstance(error, SessionFileError | UnsupportedError)
    text = str(error) if known else f"{type(error).__name__}: {error}"
    return text if str(path) in text else f"{path}: {text}"
