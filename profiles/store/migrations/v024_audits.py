"""Version 24: a session may have audits: what the attention of a model asks for, and what ran."""

import sqlite3


def keep_audits(connection: sqlite3.Connection) -> None:
    """Make a place for them; each is one value, as a trace is."""
    connection.execute("CREATE TABLE audits (n INTEGER PRIMARY KEY, audit BLOB NOT NULL)")
