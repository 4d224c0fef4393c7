"""Tells when a file was saved with other content, however an editor saves: by looking at it again."""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import NamedTuple

from flashscope.kernels.own.files import read_file
from flashscope.kernels.workload.errors import InputError

PERIOD_S = 0.05  # between two looks
PATIENCE = 10  # looks at a file that is not there, before that is said: editors delete before they write


class Save(NamedTuple):
    """A file's content after a save that changed it.

    Attributes:
        data: Its bytes, of which there are some.
        sha256: Of them, in hex.
        seen_ns: When the change was first seen, `time.monotonic_ns()`.
    """

    data: bytes
    sha256: str
    seen_ns: int


class Missing(NamedTuple):
    """The file is not there, or cannot be read; it is waited for.

    Attributes:
        text: What is wrong, in a sentence.
    """

    text: str


class FileStamp(NamedTuple):
    """What changes with every save."""

    inode: int
    bytes: int
    mtime_ns: int
    ctime_ns: int


class Saves:
    """Looks at a file; knows of no thread.

    A save is told once the file was the same in two looks: one that is written in several steps is told
    when it is whole. A file that is deleted, empty, or renamed away for a while is waited for; one that
    comes back as it was is no save, nor is one that is written with what it held.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._told: FileStamp | None = None  # what was looked into
        self._seen: FileStamp | None = None  # by the last look
        self._seen_ns = 0
        self._sha256 = ""
        self._missed = 0

    def look(self) -> Save | Missing | None:
        """What has become of the file since the last look; None: nothing that is known yet."""
        stamp = self._stamp()
        if stamp is None:
            there = os.path.isfile(self._path)  # noqa: PTH113 - where a Path would raise it says no
            return self._miss(f"{self._path} is {'empty' if there else 'not there'}")
        self._missed = 0
        if stamp == self._told:
            self._seen = stamp
            return None
        if stamp != self._seen:
            self._seen_ns = time.monotonic_ns() if self._seen in {None, self._told} else self._seen_ns
            self._seen = stamp
            return None
        return self._read(stamp)

    def _read(self, stamp: FileStamp) -> Save | Missing | None:
        try:
            data = read_file(self._path)
        except InputError as error:
            self._told = stamp
            return Missing(str(error).rstrip("."))
        if self._stamp() != stamp or len(data) != stamp.bytes:  # it is being written
            return None
        self._told = stamp
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 == self._sha256:
            return None
        self._sha256 = sha256
        return Save(data, sha256, self._seen_ns)

    def _stamp(self) -> FileStamp | None:
        """What the file is by now; None where there is none, or nothing in it."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return (
            FileStamp(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            if found.st_size
            else None
        )

    def _miss(self, text: str) -> Missing | None:
        self._seen, self._told = None, None
        self._missed += 1
        return Missing(text) if self._missed == PATIENCE else None


class SaveWatch:
    """Looks at a file from a thread of its own, until it is stopped.

    Args:
        path: The file.
        put: Takes what is found, on that thread.
    """

    def __init__(self, path: Path, put: Callable[[Save | Missing], None]) -> None:
        self._saves, self._put, self._stopped = Saves(path), put, Flag()
        self._thread = Thread(target=self._look, name=f"watch of {path.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more, and return when nothing is put any more."""
        self._stopped.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stopped.is_set():
            found = self._saves.look()
            if found is not None:
                self._put(found)
            self._stopped.wait(PERIOD_S)
