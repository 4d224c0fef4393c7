"""A cache of what a list shows of files, so that thousands are read once and not at every look.

It holds what can be read again: whatever is wrong with it, it is left alone or begun anew.
"""

import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import platformdirs

from flashscope.home import OWN_FILE, make_own_folder, own_home
from flashscope.profiles.store.info import SessionInfo
from flashscope.profiles.store.schema import VERSION

SETTLED_NS = 2_000_000_000  # a file changed later than that may change again without another mtime
FORMAT = zlib.crc32(" ".join([str(VERSION), *SessionInfo.__struct_fields__]).encode()) & 0x7FFFFFFF
TABLE = """CREATE TABLE IF NOT EXISTS headers (
  path BLOB PRIMARY KEY,
  folder BLOB NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  info BLOB NOT NULL
) WITHOUT ROWID"""


class Stamp(NamedTuple):
    """What tells whether a file is as it was."""

    size: int
    mtime_ns: int


class Headers:
    """What is known of the files of folders.

    Args:
        path: Where it is kept; None: among the user's caches, or in `$FLASHSCOPE_HOME`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or _own_path()

    def of(self, folder: Path) -> dict[Path, tuple[Stamp, SessionInfo]]:
        """Every file of a folder that was read before; nothing where the cache cannot be used."""
        found: dict[Path, tuple[Stamp, SessionInfo]] = {}
        with suppress(sqlite3.Error, OSError, msgspec.MsgspecError), self._opened() as connection:
            query = "SELECT size, mtime_ns, info FROM headers WHERE folder = ?"
            for size, mtime_ns, info in connection.execute(query, (_key(folder),)):
                known = _decode(info)
                found[known.path] = Stamp(size, mtime_ns), known
        return found

    def keep(self, folder: Path, read: Iterable[tuple[Stamp, SessionInfo]], gone: Iterable[Path]) -> None:
        """Take in what was read of a folder's files now, and forget those that are gone."""
        settled = time.time_ns() - SETTLED_NS
        rows = [
            (_key(info.path), _key(folder), stamp.size, stamp.mtime_ns, _encode(info))
            for stamp, info in read
            if not info.error and stamp.mtime_ns < settled
        ]
        with suppress(sqlite3.Error, OSError), self._opened() as connection:
            connection.executemany("INSERT OR REPLACE INTO headers VALUES (?, ?, ?, ?, ?)", rows)
            connection.executemany("DELETE FROM headers WHERE path = ?", ((_key(path),) for path in gone))
            connection.commit()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        make_own_folder(self._path.parent)
        if not self._path.exists():
            self._path.touch(OWN_FILE)
        with closing(sqlite3.connect(self._path, timeout=1.0)) as connection:
            if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,):
                connection.execute("DROP TABLE IF EXISTS headers")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.execute(TABLE)
            yield connection


def _own_path() -> Path:
    home = own_home()
    folder = home / "cache" if home else platformdirs.user_cache_path("flashscope", appauthor=False)
    return folder / "headers.sqlite"


def _key(path: Path) -> bytes:
    return os.fsencode(path.absolute())


def _encode(info: SessionInfo) -> bytes:
    return msgspec.msgpack.encode(info, enc_hook=os.fsencode)


def _as_path(_kind: type, stored: Any) -> Path:
    return Path(os.fsdecode(stored))


_decode = msgspec.msgpack.Decoder(SessionInfo, dec_hook=_as_path).decode
