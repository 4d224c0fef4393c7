"""Version 16: a session may be one of several runs of one plan."""

import sqlite3


def keep_run(connection: sqlite3.Connection) -> None:
    """Make a place for which run it is (JSON: the family's id, the run, of how many); NULL: it is alone."""
    connection.execute("ALTER TABLE session ADD COLUMN run_mark TEXT")
