"""Reads folders of sessions for a table, in the background: first what is known, then what is new."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.chores import Chores
from flashscope.app.pages.sessions.model import SessionsModel
from flashscope.app.pages.sessions.rows import SessionRow
from flashscope.profiles.store import Headers, listing


class Listing(QObject):
    """Fills a model; of several readings asked for at once the last one counts.

    Attributes:
        folders: Those read last.

    Signals:
        ended: All is listed.
        read_some: Some rows were read, of this reading (object, list of SessionRow).
    """

    ended = Signal()
    read_some = Signal(object, list)

    def __init__(self, model: SessionsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.folders: Sequence[Path] = ()
        self._cache = Headers()
        self._chores = Chores(self)
        self._now: object = None
        self.read_some.connect(self._take)

    def read(self, folders: Sequence[Path]) -> None:
        """List what is in these folders, and no more what is not."""
        self.folders, self._now = folders, object()
        self._chores.do_instead(partial(self._read, folders, self._now), partial(self._end, self._now))

    def wait(self) -> None:
        """Return when nothing is being read; to be called before this goes."""
        self._now = None
        self._chores.wait()

    def _read(self, folders: Sequence[Path], reading: object) -> set[Path]:
        paths: set[Path] = set()
        for folder in folders:
            for batch in listing(folder, self._cache):
                if reading is not self._now:
                    return paths
                rows = [SessionRow.of(info) for info in batch]
                paths.update(row.info.path for row in rows)
                if rows:
                    self.read_some.emit(reading, rows)
        return paths

    def _take(self, reading: object, rows: list[SessionRow]) -> None:
        if reading is self._now:
            self._model.take(rows)

    def _end(self, reading: object, paths: set[Path]) -> None:
        if reading is self._now:
            self._model.keep_only(paths)
            self.ended.emit()
