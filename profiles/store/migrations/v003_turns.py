"""Version 3: kernels may take turns, so a sample has a round and a point a moment when its sampling began."""

import sqlite3

STEPS = (
    "ALTER TABLE points ADD COLUMN sampling_ns INTEGER",
    "ALTER TABLE samples ADD COLUMN round INTEGER",
    # What was measured before was measured one kernel after the other.
    "UPDATE session SET plan = json_set(plan, '$.protocol.interleave', json('false'))",
)


def allow_turns(connection: sqlite3.Connection) -> None:
    """Note when a point's sampling began and in which round a sample was taken."""
    for step in STEPS:
        connection.execute(step)
