"""Version 1: one session, its points with their raw samples, telemetry readings, traces."""

import sqlite3

APPLICATION_ID = 0x46534350  # "FSCP"

# Times ending in _ns are the measuring machine's monotonic clock. NULL is "not available", never 0;
# a figure that is not a number is the text 'NaN', because SQLite turns a NaN into NULL.
TABLES = (
    """CREATE TABLE session (
  key INTEGER PRIMARY KEY CHECK (key = 1),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  note TEXT NOT NULL,
  started_at TEXT NOT NULL,
  t0_ns INTEGER NOT NULL,
  ended_ns INTEGER,
  outcome TEXT,
  plan TEXT NOT NULL,
  machine TEXT NOT NULL,
  telemetry TEXT,
  writer TEXT
)""",
    """CREATE TABLE points (
  point INTEGER PRIMARY KEY,
  kernel TEXT NOT NULL,
  problem TEXT NOT NULL,
  predicted_bytes INTEGER NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  started_ns INTEGER,
  ended_ns INTEGER
)""",
    """CREATE TABLE measurements (
  point INTEGER PRIMARY KEY REFERENCES points (point),
  timer TEXT NOT NULL,
  cold INTEGER NOT NULL,
  prepare_ms REAL,
  first_run_ms REAL,
  input_bytes INTEGER NOT NULL,
  output_bytes INTEGER NOT NULL,
  workspace_bytes INTEGER NOT NULL,
  peak_bytes INTEGER,
  peak_source TEXT NOT NULL,
  device_delta_bytes INTEGER
)""",
    """CREATE TABLE correctness (
  point INTEGER PRIMARY KEY REFERENCES points (point),
  max_abs_error REAL NOT NULL,
  error_bound REAL NOT NULL,
  lse_error REAL NOT NULL,
  lse_bound REAL NOT NULL,
  rows_compared INTEGER NOT NULL,
  passed INTEGER NOT NULL
)""",
    """CREATE TABLE samples (
  point INTEGER NOT NULL REFERENCES points (point),
  n INTEGER NOT NULL,
  ms REAL NOT NULL,
  rejected TEXT,
  PRIMARY KEY (point, n)
) WITHOUT ROWID""",
    """CREATE TABLE readings (
  n INTEGER PRIMARY KEY,
  t_ns INTEGER NOT NULL,
  memory_used INTEGER,
  utilisation REAL,
  power_w REAL,
  temperature_c REAL,
  sm_clock_mhz REAL,
  memory_clock_mhz REAL,
  throttle TEXT
)""",
    """CREATE TABLE traces (
  n INTEGER PRIMARY KEY,
  trace BLOB NOT NULL
)""",
)


def create_tables(connection: sqlite3.Connection) -> None:
    """Make an empty file a session file."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for table in TABLES:
        connection.execute(table)
