"""Tells when files came into folders or left them; many at once are told once."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

PAUSE_MS = 400  # a sweep that is recorded changes its folder with every point


class FolderWatch(QObject):
    """Watches some folders, as far as the system can: a share may tell nothing.

    Signals:
        changed: Something came, went, or was written.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._watcher = QFileSystemWatcher(self)
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._timer.timeout.connect(self.changed)
        self._watcher.directoryChanged.connect(lambda _folder: self._wait())

    def watch(self, folders: Iterable[Path]) -> None:
        """Watch those that are there; one that was not watched may have changed since it was looked at."""
        wanted = {str(folder) for folder in folders if folder.is_dir()}
        watched = set(self._watcher.directories())
        if watched - wanted:
            self._watcher.removePaths(sorted(watched - wanted))
        if wanted - watched:
            self._watcher.addPaths(sorted(wanted - watched))
            self._wait()

    def stop(self) -> None:
        """Tell nothing any more."""
        self.watch(())
        self._timer.stop()

    def _wait(self) -> None:
        """Tell after a pause; what comes meanwhile is told with it."""
        if not self._timer.isActive():
            self._timer.start()
