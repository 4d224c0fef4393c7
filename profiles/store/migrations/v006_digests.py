"""Version 6: a point that has ended has a digest of its rows, so that altered ones are told."""

import sqlite3

STEPS = (
    "ALTER TABLE points ADD COLUMN digest TEXT",
    # NULL is for points that have not ended. Those written before have none: what their rows were is unknown.
    "UPDATE points SET digest = ''",
)


def keep_digests(connection: sqlite3.Connection) -> None:
    """Give a point a place for its digest."""
    for step in STEPS:
        connection.execute(step)
