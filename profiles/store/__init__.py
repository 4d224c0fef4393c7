"""The session file: one SQLite file a session, written as the sweep runs, opened with suspicion."""

from profiles.store.copying import copy_session
from profiles.store.errors import (
    BusyFileError,
    ChangedFileError,
    CorruptFileError,
    EmptyFileError,
    ForeignFileError,
    MovedFileError,
    NewerFileError,
    ReplacedFileError,
    SessionFileError,
    TakenFileError,
)
from profiles.store.headers import Headers
from profiles.store.info import SessionInfo
from profiles.store.latest import latest
from profiles.store.library import (
    duplicate,
    new_session_path,
    restore,
    sessions_dir,
    trash,
)
from profiles.store.listing import list_sessions, listing
from profiles.store.mark import Mark
from profiles.store.places import check_place
from profiles.store.reader import load, loading
from profiles.store.resuming import check_resumable
from profiles.store.schema import SUFFIX
from profiles.store.whole import write_whole
from profiles.store.words import change, with_tags
from profiles.store.writer import Recorder

__all__ = [
    "SUFFIX",
    "BusyFileError",
    "ChangedFileError",
    "CorruptFileError",
    "EmptyFileError",
    "ForeignFileError",
    "Headers",
    "Mark",
    "MovedFileError",
    "NewerFileError",
    "Recorder",
    "ReplacedFileError",
    "SessionFileError",
    "SessionInfo",
    "TakenFileError",
    "change",
    "check_place",
    "check_resumable",
    "copy_session",
    "duplicate",
    "latest",
    "list_sessions",
    "listing",
    "load",
    "loading",
    "new_session_path",
    "restore",
    "sessions_dir",
    "trash",
    "with_tags",
    "write_whole",
]
