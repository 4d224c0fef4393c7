"""Version 4: what is read of a point are rows of one table, so that the next quantity needs no migration."""

import sqlite3

KEPT = ("input_bytes", "output_bytes", "workspace_bytes", "prepare_ms", "first_run_ms", "device_delta_bytes")
"""Columns of `measurements` whose names become the keys of figures."""
STEPS = (
    # Values have no type here: whole numbers stay whole.
    """CREATE TABLE figures (
  point INTEGER NOT NULL REFERENCES points (point),
  key TEXT NOT NULL,
  value,
  low,
  high,
  source TEXT NOT NULL,
  missing TEXT NOT NULL,
  PRIMARY KEY (point, key)
) WITHOUT ROWID""",
    *(
        f"INSERT INTO figures SELECT point, '{name}', {name}, NULL, NULL, '', '' FROM measurements "  # noqa: S608 - names of our own
        f"WHERE {name} IS NOT NULL"
        for name in KEPT
    ),
    # The source of a peak that could not be read said why.
    """INSERT INTO figures SELECT point, 'peak_bytes', peak_bytes, NULL, NULL, peak_source, ''
FROM measurements WHERE peak_bytes IS NOT NULL""",
    """INSERT INTO figures SELECT point, 'peak_bytes', NULL, NULL, NULL, '', peak_source
FROM measurements WHERE peak_bytes IS NULL""",
    "ALTER TABLE measurements RENAME TO measurements_before",
    """CREATE TABLE measurements (
  point INTEGER PRIMARY KEY REFERENCES points (point),
  timer TEXT NOT NULL,
  cold INTEGER NOT NULL,
  note TEXT NOT NULL
)""",
    "INSERT INTO measurements SELECT point, timer, cold, note FROM measurements_before",
    "DROP TABLE measurements_before",
    """CREATE TABLE errors (
  point INTEGER NOT NULL REFERENCES points (point),
  n INTEGER NOT NULL,
  output TEXT NOT NULL,
  error REAL NOT NULL,
  bound REAL NOT NULL,
  PRIMARY KEY (point, n)
) WITHOUT ROWID""",
    "INSERT INTO errors SELECT point, 0, 'O', max_abs_error, error_bound FROM correctness",
    """INSERT INTO errors SELECT point, 1, 'LSE', lse_error, lse_bound
FROM correctness WHERE lse_error IS NOT NULL AND lse_bound IS NOT NULL""",
    "ALTER TABLE correctness RENAME TO correctness_before",
    """CREATE TABLE correctness (
  point INTEGER PRIMARY KEY REFERENCES points (point),
  rows_compared INTEGER NOT NULL,
  passed INTEGER NOT NULL
)""",
    "INSERT INTO correctness SELECT point, rows_compared, passed FROM correctness_before",
    "DROP TABLE correctness_before",
    "ALTER TABLE samples ADD COLUMN t_ns INTEGER",
    "ALTER TABLE samples ADD COLUMN sm_clock_mhz REAL",
    # A plan that says nothing of a drift check was made before there was one.
    "UPDATE session SET plan = json_insert(plan, '$.protocol.drift_check', json('false'))",
)


def keep_figures(connection: sqlite3.Connection) -> None:
    """Move every figure into one table, every output's error into another; give a sample time and clock."""
    for step in STEPS:
        connection.execute(step)
