"""Reads session files on a thread of its own: a large one must not stop the window."""

import traceback
from pathlib import Path

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

from app.control.guard import guarded
from profiles.results.session import Session
from profiles.store import SessionFileError, load


class Opener(QObject):
    """Reads one file after the other; of several asked for at once the last one counts.

    Signals:
        opened: A file was read (Path, Session).
        refused: It cannot be read: one sentence, and details (Path, str, str).
    """

    opened = Signal(object, object)
    refused = Signal(object, str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)

    def read(self, path: Path) -> None:
        """Read this file; `opened` or `refused` follows, for files asked for before perhaps not any more."""
        self._pool.clear()
        self._pool.start(_Reading(path, self))

    def wait(self) -> None:
        """Return when nothing is being read; to be called before this object goes."""
        self._pool.clear()
        self._pool.waitForDone()


class _Reading(QRunnable):
    def __init__(self, path: Path, opener: Opener) -> None:
        super().__init__()
        self._path, self._opener = path, opener

    @guarded()
    def run(self) -> None:
        try:
            session: Session = load(self._path)
        except (SessionFileError, OSError) as error:
            detail = getattr(error, "detail", "")
            told = f"{type(error).__name__}: {error}\n{self._path}\n{detail}".strip()
            self._opener.refused.emit(self._path, str(error), told)
        except Exception as error:  # noqa: BLE001 - nobody else on this thread would tell that it was not opened
            reason = f"{self._path} cannot be read: {type(error).__name__}: {error}"
            self._opener.refused.emit(self._path, reason, traceback.format_exc())
        else:
            self._opener.opened.emit(self._path, session)
