"""Lists session files in a background thread: reading whole folders would block the window."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

from app.control.guard import guarded
from profiles.store import SessionInfo, list_sessions


class Listing(QObject):
    """Reads folders when asked. A request during a read causes one more read after it.

    Signals:
        listed: What is in the folders asked for last, or before these (list of SessionInfo).
    """

    listed = Signal(list)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)

    def read(self, folders: Sequence[Path]) -> None:
        """Read these folders; `listed` follows."""
        self._pool.clear()
        self._pool.start(_Job(folders, self))

    def wait(self) -> None:
        """Return when nothing is being read; to be called before this object goes."""
        self._pool.waitForDone()


class _Job(QRunnable):
    def __init__(self, folders: Sequence[Path], listing: Listing) -> None:
        super().__init__()
        self._folders, self._listing = folders, listing

    @guarded()
    def run(self) -> None:
        infos: list[SessionInfo] = [info for folder in self._folders for info in list_sessions(folder)]
        self._listing.listed.emit(infos)
