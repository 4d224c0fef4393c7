"""Version 10: a point keeps the traffic of one of its runs over that run's time."""

import sqlite3


def keep_traffic(connection: sqlite3.Connection) -> None:
    """Make a place for the curves (JSON), of those points that have one."""
    connection.execute(
        """CREATE TABLE traffic (
  point INTEGER PRIMARY KEY REFERENCES points (point),
  curve TEXT NOT NULL
)"""
    )
