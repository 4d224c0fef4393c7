"""The session file: one SQLite file a session, written as the sweep runs, opened with suspicion."""

from profiles.store.errors import (
    BusyFileError,
    CorruptFileError,
    ForeignFileError,
    NewerFileError,
    SessionFileError,
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
from profiles.store.reader import load
from profiles.store.schema import SUFFIX
from profiles.store.writer import Recorder, check_folder

__all__ = [
    "SUFFIX",
    "BusyFileError",
    "CorruptFileError",
    "ForeignFileError",
    "NewerFileError",
    "Recorder",
    "SessionFileError",
    "SessionInfo",
    "check_folder",
    "list_sessions",
    "load",
    "new_session_path",
    "rename",
    "restore",
    "sessions_dir",
    "set_note",
    "trash",
]
