"""Version 26: a session may have traces of backward passes: the state of each tile as it was left."""

import sqlite3


def keep_backward_traces(connection: sqlite3.Connection) -> None:
    """Make a place for them; each is one value, as a trace is."""
    connection.execute("CREATE TABLE backward_traces (n INTEGER PRIMARY KEY, trace BLOB NOT NULL)")
