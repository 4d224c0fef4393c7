"""Version 20: a session may have stall profiles: where the warps of a launch stood, and why."""

import sqlite3


def keep_stalls(connection: sqlite3.Connection) -> None:
    """Make a place for them; each is one value, packed by zlib."""
    connection.execute("CREATE TABLE stall_profiles (n INTEGER PRIMARY KEY, profile BLOB NOT NULL)")
