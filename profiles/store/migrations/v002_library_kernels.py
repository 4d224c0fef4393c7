"""Version 2: kernels of libraries, which may return no LSE and have something to say of their run."""

import sqlite3

STEPS = (
    "ALTER TABLE measurements ADD COLUMN note TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE correctness RENAME TO correctness_before",
    """CREATE TABLE correctness (
  point INTEGER PRIMARY KEY REFERENCES points (point),
  max_abs_error REAL NOT NULL,
  error_bound REAL NOT NULL,
  lse_error REAL,
  lse_bound REAL,
  rows_compared INTEGER NOT NULL,
  passed INTEGER NOT NULL
)""",
    "INSERT INTO correctness SELECT * FROM correctness_before",
    "DROP TABLE correctness_before",
)


def allow_library_kernels(connection: sqlite3.Connection) -> None:
    """Make the LSE's comparison optional, and give a measurement a note."""
    for step in STEPS:
        connection.execute(step)
