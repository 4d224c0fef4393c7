"""Whether the file of the session on show is still where it was: other programs move and delete files."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from app.control.chores import Chores
from app.control.controller import Controller
from profiles.store.errors import explain_os
from profiles.store.held import Identity, identity
from profiles.store.reader import read_words
from profiles.store.words import Field, Words

PERIOD_MS = 1000


class Look(NamedTuple):
    """What a look at a file has found."""

    identity: Identity
    written_ns: int


class Presence(QObject):
    """Looks once a second, on a thread of its own: a share may take its time.

    Attributes:
        gone: Whether the file was moved, deleted or replaced, as far as that is known.

    Signals:
        changed: The session on show has another file, or `gone` is another.
        rewritten: Another program has changed what is said of the session on show, which follows.
    """

    changed = Signal()
    rewritten = Signal()

    def __init__(self, controller: Controller, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.gone = False
        self._controller, self._chores = controller, Chores(self)
        self._path: Path | None = None
        self._first: Identity | None = None  # of the file that was opened
        self._written_ns: int | None = None  # when that file was written last
        self._timer = QTimer(self, interval=PERIOD_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        controller.session_changed.connect(lambda _session: self._begin())
        controller.path_found.connect(lambda _path: self._begin())

    def look(self) -> None:
        """Look now; what is found out is told when it is."""
        if self._controller.path != self._path:  # a recording goes on in another file
            self._begin()
        elif self._path is not None:
            self._chores.do_instead(partial(_look, self._path), partial(self._take, self._path))

    def wait(self) -> None:
        """Look no more, and return when nothing is being looked at; to be called before this object goes."""
        self._timer.stop()
        self._chores.wait()

    def _begin(self) -> None:
        self._path, self._first, self.gone = self._controller.path, None, False
        self._written_ns = None
        self.changed.emit()
        if self._path is not None:
            self.look()

    def _take(self, path: Path, look: Look | None) -> None:
        if path != self._path:
            return
        found = look and look.identity
        self._first = self._first or found
        gone = found is None or found != self._first
        if look is not None and not gone:
            self._follow(path, look.written_ns)
        if gone != self.gone:
            self.gone = gone
            self.changed.emit()

    def _follow(self, path: Path, written_ns: int) -> None:
        """Read what is said of a session whose file was written; a recorder writes all the time."""
        before, self._written_ns = self._written_ns, written_ns
        if before not in (None, written_ns) and not self._controller.measuring:
            self._chores.do(partial(read_words, path), partial(self._take_words, path))

    def _take_words(self, path: Path, words: Mapping[Field, Words]) -> None:
        if self._controller.words.take(path, words):
            self.rewritten.emit()


def _look(path: Path) -> Look | None:
    """What is there, None when nothing is.

    Raises:
        SessionFileError: The disk does not say.
    """
    try:
        return Look(identity(path), path.stat().st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise explain_os(error, path) from error
