"""Version 9: a user gives a session tags, and its points and moments notes."""

import sqlite3

STEPS = (
    "ALTER TABLE session ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE session ADD COLUMN bookmarks TEXT NOT NULL DEFAULT '[]'",
)


def keep_words(connection: sqlite3.Connection) -> None:
    """Make a place for tags and bookmarks: JSON lists, changed as a whole."""
    for step in STEPS:
        connection.execute(step)
