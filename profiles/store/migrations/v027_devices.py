"""Version 27: a sweep may be shared among several devices: who else measures, and which device what."""

import sqlite3


def keep_devices(connection: sqlite3.Connection) -> None:
    """Make a place for who else measures (JSON), and for the device of points and readings.

    Device 0, which all that is there was measured on, has no row of a point, and NULL in a reading.
    """
    connection.execute("ALTER TABLE session ADD COLUMN others TEXT")
    connection.execute("ALTER TABLE readings ADD COLUMN device INTEGER")
    connection.execute(
        """CREATE TABLE point_devices (
  point INTEGER PRIMARY KEY REFERENCES points,
  device INTEGER NOT NULL
)"""
    )
