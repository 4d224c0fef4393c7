"""Lists session files in a background thread: reading a whole folder would block the window."""

from pathlib import Path

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

from app.control.guard import guarded
from profiles.store import SessionInfo, list_sessions


class Listing(QObject):
    """Reads a folder when asked. A request during a read causes one more read after it.

    Signals:
        listed: What is in the folder (list of SessionInfo).
    """

    listed = Signal(list)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)

    def refresh(self) -> None:
        """Read the folder; `listed` follows."""
        self._pool.clear()
        self._pool.start(_Job(self._folder, self))

    def wait(self) -> None:
        """Return when nothing is being read; to be called before this object goes."""
        self._pool.waitForDone()


class _Job(QRunnable):
    def __init__(self, folder: Path, listing: Listing) -> None:
        super().__init__()
        self._folder, self._listing = folder, listing

    @guarded()
    def run(self) -> None:
        infos: list[SessionInfo] = list_sessions(self._folder)
        self._listing.listed.emit(infos)
