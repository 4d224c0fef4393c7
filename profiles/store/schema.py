"""What a session file is made of, and how large it may be."""

import sqlite3
from functools import cache

from flashscope.profiles.store.migrations import MIGRATIONS, migrate
from flashscope.profiles.store.migrations.v001_first import APPLICATION_ID

__all__ = ["APPLICATION_ID", "SUFFIX", "VERSION", "expected_schema", "schema_of"]

SUFFIX = ".flashscope"
VERSION = len(MIGRATIONS)

MAX_FILE_BYTES = 1 << 30
MAX_VALUE_BYTES = 128 << 20  # a trace holds at most half of it
MAX_UNPACKED_BYTES = 2 << 30  # of all values that are packed, once they are not
MAX_NAME = 200  # characters, as all lengths of texts
MAX_NOTE = 100_000
MAX_TAGS = 50
MAX_TAG = 60
MAX_BOOKMARKS = 1_000
MAX_BOOKMARK = 2_000
MAX_TEXT = 1_000_000
MAX_JSON = 64 << 20  # a block mask takes 4/3 of a character a block
MAX_TRAFFIC = 64 << 10  # characters of a point's traffic curve
MAX_POINTS = 100_000
MAX_ROWS = 5_000_000  # readings at 20 Hz for almost three days
MAX_TRACES = 1_000
MAX_TIMELINES = 200
MAX_STALLS = 1_000
MAX_LANDSCAPES = 1_000
MAX_AUDITS = 100
MAX_RANKS = 1_000
MAX_PARTS = 1_000
MAX_DEVICES = 1_000

SqlSchema = frozenset[tuple[str, str, str | None]]


def schema_of(connection: sqlite3.Connection) -> SqlSchema:
    """Everything a file defines, as (type, name, SQL): tables, indexes, triggers, views."""
    return frozenset(connection.execute("SELECT type, name, sql FROM sqlite_master"))


@cache
def expected_schema(version: int) -> SqlSchema:
    """What a file of that version defines, found by running the migrations on an empty database."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(connection, MIGRATIONS[:version])
        return schema_of(connection)
    finally:
        connection.close()
