"""Version 8: a sweep that was broken off may go on, so a session may have parts after its first."""

import sqlite3


def allow_parts(connection: sqlite3.Connection) -> None:
    """Make a place for how each part after the first began (JSON), and the digest of that."""
    connection.execute(
        """CREATE TABLE parts (
  part INTEGER PRIMARY KEY,
  resumed TEXT NOT NULL,
  digest TEXT NOT NULL
)"""
    )
