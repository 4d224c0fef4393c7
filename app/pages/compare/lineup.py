"""The sessions chosen for a comparison: read and compared in the background, the newest choice counts."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.chores import Chores
from flashscope.app.pages.compare.findings import ComparedSession, Findings, find
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.compare import MOST_OTHERS
from flashscope.profiles.results.model.families import Kinship, RunFamily, families
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.store import SessionFileError, loading
from flashscope.profiles.store.reader import read_words

MOST = 1 + MOST_OTHERS
TWO = 2  # sessions make a comparison
MOST_FILES = 20 * MOST  # that are read to see which are runs of one plan


class Chosen(NamedTuple):
    """One side that was chosen: a session file, or the files of several runs of one plan.

    Attributes:
        files: In the order of the runs.
        sessions: What is in them, None until it is read.
    """

    files: tuple[Path, ...]
    sessions: tuple[Session | None, ...]

    @property
    def path(self) -> Path:
        """The file of the first run, which tells the side from others."""
        return self.files[0]

    @property
    def session(self) -> Session | None:
        """The first run."""
        return self.sessions[0]

    @property
    def read(self) -> tuple[Session, ...]:
        """All runs, none of them before all are read."""
        known = tuple(session for session in self.sessions if session is not None)
        return known if len(known) == len(self.files) else ()


class Lineup(QObject):
    """Up to six sides, the baseline first: runs of one plan are one side, any other session file is one.

    Where nothing is chosen but a few runs of one plan, they are compared with one another, each a side.

    Attributes:
        quantity: What is compared.
        chosen: The sides, in order.

    Signals:
        changed: Other files, another baseline, or one of them was read.
        working: What is being done now, in a few words; empty: nothing (str).
        found: The comparison of what is chosen now (Findings, or None: there is nothing to compare).
        refused: A file was not taken, or cannot be read: one sentence, and details (str, str).
    """

    changed = Signal()
    working = Signal(str)
    found = Signal(object)
    refused = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.quantity: Quantity = RUNTIME
        self.chosen: list[Chosen] = []
        self._files: dict[Path, Session | None] = {}
        self._reader, self._comparer = Chores(self), Chores(self)
        self._newest: object = None  # the comparison that counts
        self._may_part = self._apart = False  # whether runs of one plan may be sides by themselves, and are

    @property
    def paths(self) -> tuple[Path, ...]:
        """The file of each side's first run, the baseline's first."""
        return tuple(one.path for one in self.chosen)

    @property
    def sides(self) -> tuple[tuple[Path, ...], ...]:
        """The files of each side, the baseline's first."""
        return tuple(one.files for one in self.chosen)

    def choose(self, paths: Sequence[Path]) -> None:
        """Compare these and no others, as their files are now: a sweep may have gone on in one since."""
        self._files, self._may_part = {}, True
        self.add(paths)

    def add(self, paths: Sequence[Path]) -> None:
        """Compare these too; those on show already are not read again."""
        wanted = _each_once([*self._files, *paths])
        self._refuse_beyond(wanted[MOST_FILES:])
        self._take(wanted[:MOST_FILES])

    def remove(self, path: Path) -> None:
        """Compare the side with this file no more; the runs of one that is left stay together."""
        self._may_part = self._apart
        self._take([file for side in self.sides if path not in side for file in side])

    def make_baseline(self, path: Path) -> None:
        """Compare the others with the side that has this file."""
        sides = sorted(self.sides, key=lambda side: path not in side)
        if any(path in side for side in sides):
            self._take([file for side in sides for file in side])

    def compare_by(self, quantity: Quantity) -> None:
        """Compare another quantity."""
        self.quantity = quantity
        self._compare()

    def wait(self) -> None:
        """Return when nothing is being read or compared; to be called before this object goes."""
        self._newest = None
        self._reader.wait()
        self._comparer.wait()

    def _take(self, paths: Sequence[Path]) -> None:
        known = self._files
        self._files = {path: known.get(path) for path in paths}
        for path in paths:
            if path not in known:
                self._reader.do(partial(_read, path), partial(self._read, path))
        self._follow()

    def _read(self, path: Path, told: "Session | _Refused") -> None:
        if isinstance(told, _Refused):
            self.refused.emit(told.sentence, told.detail)
            self._take([file for file in self._files if file != path])
        elif path in self._files:
            self._files[path] = told
            self._follow()

    def _follow(self) -> None:
        """Put the runs of a plan on one side; sides are counted when all are read."""
        found = families(self._files.items(), _kinship)
        read = None not in self._files.values()
        self._apart = read and self._may_part and len(found) == 1 and len(found[0].runs) <= MOST
        if self._apart:
            found = [RunFamily(None, (file,)) for file in self._files.items()]
        sides = [_side(family) for family in found]
        if read and len(sides) > MOST:
            self._refuse_beyond([side.path for side in sides[MOST:]])
            self._files = {file: self._files[file] for side in sides[:MOST] for file in side.files}
        self.chosen = sides[:MOST]
        self.changed.emit()
        self._compare()

    def _compare(self) -> None:
        self._newest = None
        members = [ComparedSession(one.files, one.read) for one in self.chosen if one.read]
        unread = sum(session is None for session in self._files.values())
        if unread:
            self.working.emit(f"Reading {unread} session{'s' * (unread > 1)} …")
        elif len(members) > 1:
            token = self._newest = object()
            self.working.emit("Comparing …")
            self._comparer.do_instead(
                partial(_find, members, self.quantity), partial(self._take_findings, token)
            )
        else:
            self.working.emit("")
            self.found.emit(None)

    def _take_findings(self, token: object, findings: "Findings | _Refused") -> None:
        if token is not self._newest:
            return
        if isinstance(findings, _Refused):
            self.working.emit(findings.sentence)  # in the place of verdicts
            self.refused.emit(findings.sentence, findings.detail)
            self.found.emit(None)
            return
        self.working.emit("")
        self.found.emit(findings)

    def _refuse_beyond(self, paths: Sequence[Path]) -> None:
        if paths:
            self._reader.do(partial(_names, paths), self._tell_left_out)

    def _tell_left_out(self, names: str) -> None:
        self.refused.emit(f"Up to {MOST} sessions can be compared; left out: {names}.", "")


class _Refused(NamedTuple):
    sentence: str
    detail: str


def _kinship(item: tuple[Path, Session | None]) -> Kinship:
    path, session = item
    return Kinship(None if session is None else session.run_mark, "" if session is None else session.id, path)


def _side(family: RunFamily[tuple[Path, Session | None]]) -> Chosen:
    files, sessions = zip(*family.runs, strict=True)
    return Chosen(files, sessions)


def _find(members: Sequence[ComparedSession], quantity: Quantity) -> Findings | _Refused:
    """What the comparison finds, or why there is none: as of runs whose plans are not the same."""
    try:
        return find(members, quantity)
    except InputError as error:
        return _Refused(str(error), "")


def _read(path: Path) -> Session | _Refused:
    """A session without its readings: a comparison needs none."""
    try:
        with loading(path) as (session, _readings):
            return session
    except SessionFileError as error:
        return _Refused(str(error), error.detail)
    except Exception as error:  # noqa: BLE001 - nobody else on this thread would tell that it was not read
        return _Refused(f"{path} cannot be read: {type(error).__name__}: {error}", "")


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(map(_name, paths))


def _name(path: Path) -> str:
    try:
        return str(read_words(path)["name"]) or path.stem
    except SessionFileError:
        return path.name


def _each_once(paths: Sequence[Path]) -> list[Path]:
    """The files by their real places: one that is named twice is one."""
    return list(dict.fromkeys(path.resolve() for path in paths))
