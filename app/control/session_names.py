"""The names of the sessions that a user may look for: those that come with the program and the newest."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.bundled import NAMES, bundled_sessions, is_own
from flashscope.app.control.chores import Chores
from flashscope.app.control.findable import Findable
from flashscope.app.control.settings import Settings
from flashscope.app.words.results.sessions import named
from flashscope.profiles.store import SessionInfo, latest

MOST = 100  # of the newest


class SessionNames(QObject):
    """Reads the newest sessions in the background, as often as it is asked to look.

    Args:
        folder: Where sessions are saved.
        settings: Which were opened.
        open_path: Shows a session file.
        parent: The window.

    Signals:
        changed: There are others.
    """

    changed = Signal()

    def __init__(
        self, folder: Path, settings: Settings, open_path: Callable[[Path], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._folder, self._settings, self._open_path = folder, settings, open_path
        self._newest: list[SessionInfo] = []
        self._chores = Chores(self)

    def look(self) -> None:
        """Read again which are the newest; what was known stays known until then."""
        opened = {path: self._settings.recent_ns(path) for path in self._settings.recents}
        self._chores.do_instead(partial(latest, self._folder, opened, MOST), self._take)

    def findables(self) -> Iterator[Findable]:
        """Those known now, the bundled ones first; a file that cannot be read is none."""
        bundled = {path: NAMES[path.stem] for path in bundled_sessions()}
        newest = {info.path: named(info, info.path) for info in self._newest if not info.error}
        for path, name in (bundled | {path: newest[path] for path in newest if is_own(path)}).items():
            yield Findable("session", name, partial(self._open_path, path), also=path.stem)

    def _take(self, newest: list[SessionInfo]) -> None:
        if newest != self._newest:
            self._newest = newest
            self.changed.emit()
