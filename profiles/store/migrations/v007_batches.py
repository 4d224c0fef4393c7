"""Version 7: readings and traces have digests, too: one for each batch of rows, written with it."""

import sqlite3

STEPS = (
    # A batch is the rows of a table from behind the last one of the batch before up to its own.
    """CREATE TABLE batches (
  name TEXT NOT NULL,
  last INTEGER NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (name, last)
) WITHOUT ROWID""",
    # What was written before has none: what its rows were is unknown.
    "INSERT INTO batches SELECT 'readings', n, '' FROM readings ORDER BY n DESC LIMIT 1",
    "INSERT INTO batches SELECT 'traces', n, '' FROM traces ORDER BY n DESC LIMIT 1",
)


def digest_batches(connection: sqlite3.Connection) -> None:
    """Make a place for the digests of batches."""
    for step in STEPS:
        connection.execute(step)
