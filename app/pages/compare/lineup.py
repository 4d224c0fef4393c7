"""The sessions chosen for a comparison: read and compared in the background, the newest choice counts."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.chores import Chores
from flashscope.app.pages.compare.findings import ComparedSession, Findings, find
from flashscope.profiles.results.compare import MOST_OTHERS
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.store import SessionFileError, loading
from flashscope.profiles.store.reader import read_words

MOST = 1 + MOST_OTHERS


class Chosen(NamedTuple):
    """A session file that was chosen; its session is None until it is read."""

    path: Path
    session: Session | None


class Lineup(QObject):
    """Up to six session files, the baseline first.

    Attributes:
        quantity: What is compared.
        chosen: The files, in order.

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
        self._reader, self._comparer = Chores(self), Chores(self)
        self._newest: object = None  # the comparison that counts

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files, the baseline's first."""
        return tuple(one.path for one in self.chosen)

    def choose(self, paths: Sequence[Path]) -> None:
        """Compare these and no others, as their files are now: a sweep may have gone on in one since."""
        self.chosen = []
        self.add(paths)

    def add(self, paths: Sequence[Path]) -> None:
        """Compare these too; those on show already are not read again."""
        wanted = _each_once([*self.paths, *paths])
        self._refuse_beyond(wanted[MOST:])
        self._take(wanted[:MOST])

    def remove(self, path: Path) -> None:
        """Compare this one no more."""
        self._take([one for one in self.paths if one != path])

    def make_baseline(self, path: Path) -> None:
        """Compare the others with this one."""
        if path in self.paths:
            self._take([path, *(one for one in self.paths if one != path)])

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
        known = {one.path: one.session for one in self.chosen}
        self.chosen = [Chosen(path, known.get(path)) for path in paths]
        for path in paths:
            if path not in known:
                self._reader.do(partial(_read, path), partial(self._read, path))
        self._follow()

    def _read(self, path: Path, told: "Session | _Refused") -> None:
        if isinstance(told, _Refused):
            self.refused.emit(told.sentence, told.detail)
            self.remove(path)
            return
        self.chosen = [Chosen(path, told) if one.path == path else one for one in self.chosen]
        self._follow()

    def _follow(self) -> None:
        self.changed.emit()
        self._compare()

    def _compare(self) -> None:
        self._newest = None
        members = [ComparedSession(path, session) for path, session in self.chosen if session is not None]
        unread = len(self.chosen) - len(members)
        if unread:
            self.working.emit(f"Reading {unread} session{'s' * (unread > 1)} …")
        elif len(members) > 1:
            token = self._newest = object()
            self.working.emit("Comparing …")
            self._comparer.do_instead(
                partial(find, members, self.quantity), partial(self._take_findings, token)
            )
        else:
            self.working.emit("")
            self.found.emit(None)

    def _take_findings(self, token: object, findings: Findings) -> None:
        if token is self._newest:
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
