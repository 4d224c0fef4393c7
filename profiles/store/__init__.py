"""The session file: one SQLite file a session, written as the sweep runs, opened with suspicion."""

from flashscope.profiles.store.atomic_write import write_atomically
from flashscope.profiles.store.copying import copy_session
from flashscope.profiles.store.errors import (
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
from flashscope.profiles.store.headers import Headers
from flashscope.profiles.store.info import SessionInfo
from flashscope.profiles.store.joining import check_one_plan, mark_run
from flashscope.profiles.store.latest import latest
from flashscope.profiles.store.library import duplicate, new_session_path, restore, sessions_dir, trash
from flashscope.profiles.store.listing import list_sessions, listing
from flashscope.profiles.store.mark import SessionMark
from flashscope.profiles.store.places import check_place
from flashscope.profiles.store.reader import load, loading
from flashscope.profiles.store.resuming import check_resumable
from flashscope.profiles.store.schema import SUFFIX
from flashscope.profiles.store.words import change, with_tags
from flashscope.profiles.store.writer import Recorder

__all__ = [
    "SUFFIX",
    "BusyFileError",
    "ChangedFileError",
    "CorruptFileError",
    "EmptyFileError",
    "ForeignFileError",
    "Headers",
    "MovedFileError",
    "NewerFileError",
    "Recorder",
    "ReplacedFileError",
    "SessionFileError",
    "SessionInfo",
    "SessionMark",
    "TakenFileError",
    "change",
    "check_one_plan",
    "check_place",
    "check_resumable",
    "copy_session",
    "duplicate",
    "latest",
    "list_sessions",
    "listing",
    "load",
    "loading",
    "mark_run",
    "new_session_path",
    "restore",
    "sessions_dir",
    "trash",
    "with_tags",
    "write_atomically",
]
