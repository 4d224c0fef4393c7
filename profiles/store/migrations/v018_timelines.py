"""Version 18: a session may have timelines: when and where each stage of a kernel ran."""

import sqlite3


def keep_timelines(connection: sqlite3.Connection) -> None:
    """Make a place for them; each is one value, as a trace is."""
    connection.execute("CREATE TABLE timelines (n INTEGER PRIMARY KEY, timeline BLOB NOT NULL)")
