"""Whether the file of the session on show is still what it was: others move, delete, replace files."""

from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from PySide6.QtCore import QObject, QTimer, Signal

from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.profiles.store import BusyFileError, SessionFileError
from flashscope.profiles.store.errors import explain_os
from flashscope.profiles.store.mark import SessionMark
from flashscope.profiles.store.opening import being_written
from flashscope.profiles.store.reader import read_mark
from flashscope.profiles.store.recording_here import Identity, identity
from flashscope.profiles.store.words import Field, UserWords

PERIOD_MS = 1000
FilePresence = Literal["there", "gone", "replaced"]
STATES: dict[FilePresence, str] = {"there": "", "gone": "moved or deleted", "replaced": "replaced"}
Content: TypeAlias = tuple[SessionMark, dict[Field, UserWords]]
NO_SESSION: Content = SessionMark("", 0, None, None), {}


class FileState(NamedTuple):
    """What a look at a file has found."""

    identity: Identity
    written_ns: int


class Presence(QObject):
    """Looks once a second, on a thread of its own: a share may take its time.

    Attributes:
        state: Whether the file is there, gone (moved or deleted) or replaced: by another one, or by what
            another program has written into it, as far as that is known.

    Signals:
        changed: The session on show has another file, or `state` is another.
        rewritten: Another program has changed what is said of the session on show, which follows.
    """

    changed = Signal()
    rewritten = Signal()

    def __init__(self, controller: Controller, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state: FilePresence = "there"
        self._other = False  # whether another session has been written into the file
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
        self._path, self._first, self.state = self._controller.path, None, "there"
        self._written_ns, self._other = None, False
        self.changed.emit()
        if self._path is not None:
            self.look()

    def _take(self, path: Path, look: FileState | None) -> None:
        if path != self._path:
            return
        self._first = self._first or (look and look.identity)
        if look is None:
            self._be("gone")
        elif look.identity != self._first:
            self._be("replaced")
        else:
            self._be("replaced" if self._other else "there")
            self._follow(path, look.written_ns)

    def _be(self, state: FilePresence) -> None:
        if state != self.state:
            self.state = state
            self.changed.emit()

    def _follow(self, path: Path, written_ns: int) -> None:
        """Read whose file it is that was written; a recorder writes all the time."""
        before, self._written_ns = self._written_ns, written_ns
        if before not in (None, written_ns) and not self._controller.moving:
            self._chores.do(partial(_read, path), partial(self._take_content, path))

    def _take_content(self, path: Path, content: Content | None) -> None:
        if path != self._path or self._controller.mark is None or content is None:
            return
        mark, words = content
        self._other = mark != self._controller.mark
        if self._other:
            self._be("replaced")
        elif self._controller.words.take(path, words):
            self.rewritten.emit()


def _read(path: Path) -> Content | None:
    """Whose file it is, and what is said of that; None: it is being written, and will be when that ends.

    A file that is no session's any more is another's.
    """
    if being_written(path):
        return None
    try:
        return read_mark(path)
    except BusyFileError:
        return None
    except SessionFileError:
        return NO_SESSION


def _look(path: Path) -> FileState | None:
    """What is there, None when nothing is.

    Raises:
        SessionFileError: The disk does not say.
    """
    try:
        return FileState(identity(path), path.stat().st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise explain_os(error, path) from error
