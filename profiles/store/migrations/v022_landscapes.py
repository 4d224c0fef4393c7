"""Version 22: a session may have landscapes: how long cuts of a kernel took, side by side."""

import sqlite3


def keep_landscapes(connection: sqlite3.Connection) -> None:
    """Make a place for them; each is one value, as a trace is."""
    connection.execute("CREATE TABLE landscapes (n INTEGER PRIMARY KEY, landscape BLOB NOT NULL)")
