"""Version 11: what the device reached at the begin of each part of a session."""

import sqlite3


def keep_ceilings(connection: sqlite3.Connection) -> None:
    """Make a place for the ceilings of a part (JSON), whose number is `n`."""
    connection.execute("CREATE TABLE ceilings (n INTEGER PRIMARY KEY, measured TEXT NOT NULL)")
