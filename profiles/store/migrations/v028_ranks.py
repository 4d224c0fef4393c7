"""Version 28: a session may have attention on several ranks, and no points beside it."""

import sqlite3


def keep_ranks(connection: sqlite3.Connection) -> None:
    """Make a place for it; each result is one value, as a trace is."""
    connection.execute("CREATE TABLE ranks (n INTEGER PRIMARY KEY, result BLOB NOT NULL)")
