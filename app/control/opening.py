"""Reads session files on a thread of its own: a large one must not stop the window."""

import time
import traceback
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.chores import Chores
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionFileError, loading
from flashscope.profiles.wire.events import Reading

PAUSE_S = 0.001  # between two batches of readings: Python lets one thread run at a time
POINT_S, MOST_S = 1e-4, 2.0  # what drawing a point takes, and the longest wait for the points to be drawn
TOLD = 50_000  # readings that are shown at once


class Opener(QObject):
    """Reads one file after the other; of several asked for at once the last one counts.

    Signals:
        opened: A file was read but for its readings (Path, Session).
        read_on: More of its readings, oldest first (Session, list of Reading).
        ended: They have all come, or no more will (Session).
        refused: It cannot be read, or not further: one sentence, and details (Path, str, str).
    """

    opened = Signal(object, object)
    read_on = Signal(object, list)
    ended = Signal(object)
    refused = Signal(object, str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chores = Chores(self)
        self._newest: _Reading | None = None

    def read(self, path: Path) -> None:
        """Read this file; `opened` or `refused` follows, for files asked for before perhaps not any more."""
        self._newest = _Reading(path, self)
        self._chores.do_instead(self._newest.run)

    def wait(self) -> None:
        """Return when nothing is being read; to be called before this object goes."""
        self._newest = None
        self._chores.wait()

    def wants(self, reading: "_Reading") -> bool:
        """Whether a file is the last one that was asked for."""
        return reading is self._newest


class _Reading:
    def __init__(self, path: Path, opener: Opener) -> None:
        self._path, self._opener = path, opener

    def run(self) -> None:
        if not self._opener.wants(self):
            return
        try:
            with loading(self._path) as (session, readings):
                self._opener.opened.emit(self._path, session)
                try:
                    self._read_on(session, readings)
                finally:
                    self._opener.ended.emit(session)
        except (SessionFileError, OSError) as error:
            detail = getattr(error, "detail", "")
            told = f"{type(error).__name__}: {error}\n{self._path}\n{detail}".strip()
            self._opener.refused.emit(self._path, str(error), told)
        except Exception as error:  # noqa: BLE001 - nobody else on this thread would tell that it was not opened
            reason = f"{self._path} cannot be read: {type(error).__name__}: {error}"
            self._opener.refused.emit(self._path, reason, traceback.format_exc())

    def _read_on(self, session: Session, readings: Iterable[list[Reading]]) -> None:
        """Tell the readings in few large pieces, each of which is drawn; make them of small ones.

        The plots of the points come first: they have this process to themselves for as long as they take.
        """
        waiting: list[Reading] = []
        begin = time.monotonic() + min(len(session.points) * POINT_S, MOST_S)
        while self._opener.wants(self) and time.monotonic() < begin:
            time.sleep(PAUSE_S)
        try:
            for batch in readings:
                waiting += batch
                if len(waiting) >= TOLD:
                    self._opener.read_on.emit(session, waiting)
                    waiting = []
                if not self._opener.wants(self):
                    return
                time.sleep(PAUSE_S)
        finally:
            if waiting:
                self._opener.read_on.emit(session, waiting)
