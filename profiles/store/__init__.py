"""The session file: one SQLite file a session, written as the sweep runs, opened with suspicion."""

from profiles.store.copying import copy_session
from profiles.store.errors import (
    BusyFileError,
    CorruptFileError,
    EmptyFileError,
    ForeignFileError,
    MovedFileError,
    NewerFileError,
    SessionFileError,
    TakenFileError,
)
from profiles.store.library import (
    SessionInfo,
    list_sessions,
    new_session_path,
    rename,
    restore,
    sessions_dir,
    set_note,
    trash,
)
from profiles.store.places import check_place
from profiles.store.reader import load, loading
from profiles.store.resuming import check_resumable
from profiles.store.schema import SUFFIX
from profiles.store.whole import write_whole
from profiles.store.writer import Recorder

__all__ = [
    "SUFFIX",
    "BusyFileError",
    "CorruptFileError",
    "EmptyFileError",
    "ForeignFileError",
    "MovedFileError",
    "NewerFileError",
    "Recorder",
    "SessionFileError",
    "SessionInfo",
    "TakenFileError",
    "check_place",
    "check_resumable",
    "copy_session",
    "list_sessions",
    "load",
    "loading",
    "new_session_path",
    "rename",
    "restore",
    "sessions_dir",
    "set_note",
    "trash",
    "write_whole",
]
