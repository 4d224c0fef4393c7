"""Version 17: a trace may be of a kernel that is wrong on purpose; one that names no fault has none."""

import sqlite3


def name_faults(connection: sqlite3.Connection) -> None:
    """Change no table: a trace may name its fault, and older versions would show it as a right one."""
    del connection
