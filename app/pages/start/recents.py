"""The card of the sessions recorded, changed or opened last."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from flashscope.app.control.chores import Chores
from flashscope.app.control.folder_watch import FolderWatch
from flashscope.app.control.settings import RECENTS, Settings
from flashscope.app.pages.start.sessions import RecentRow, read_teaser
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.results.sessions import minute_of, named
from flashscope.profiles.store import SessionInfo, latest

LOOKING = "Looking for sessions …"
NOTHING = "Nothing yet. Sweeps are saved by themselves and appear here."


class RecentsCard(Card):
    """Reads what is in the newest files in the background; sweeps of the command line are among them.

    Args:
        folder: Where sessions are saved.

    Signals:
        file_chosen: A session file to open (Path).
    """

    file_chosen = Signal(object)

    def __init__(self, folder: Path) -> None:
        super().__init__("Recent sessions")
        self._folder = folder
        self._opened: dict[Path, int] = {}
        self._shown: list[SessionInfo] | None = None
        self._chores, self._teasers, self._watch = Chores(self), Chores(self), FolderWatch(self)
        self._watch.changed.connect(self._look)
        self._fill([_words(LOOKING)])

    def show_opened(self, paths: Iterable[Path]) -> None:
        """Look for the newest sessions again; these were opened, at the times that the settings have."""
        settings = Settings()
        self._opened = {path: settings.recent_ns(path) for path in paths}
        self._watch.watch([self._folder])
        self._look()

    def _look(self) -> None:
        read = partial(latest, self._folder, self._opened, RECENTS)
        self._chores.do_instead(read, self._show)

    def _show(self, infos: list[SessionInfo]) -> None:
        if infos != self._shown:  # else whoever has the keys on one of them would lose them
            self._shown = infos
            self._fill([self._line(info) for info in infos] or [_words(NOTHING)])

    def _fill(self, lines: Iterable[QWidget]) -> None:
        while (item := self.body.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        for line in lines:
            self.body.addWidget(line)
        self.body.addStretch(1)

    def _line(self, info: SessionInfo) -> QWidget:
        row = RecentRow(
            named(info, info.path),
            tip=info.error or str(info.path),
            when="" if info.error else minute_of(info),
            facts="cannot be read" if info.error else cut_short(info.device, MOST_OF_NAME),
            opened=partial(self.file_chosen.emit, info.path),
        )
        if not info.error:
            self._teasers.do(
                partial(read_teaser, info.path), lambda told: row.tell(told) if isValid(row) else None
            )
        return row


def _words(text: str) -> PlainLabel:
    label = PlainLabel(text, wordWrap=True)
    label.setProperty("role", "dim")
    return label
