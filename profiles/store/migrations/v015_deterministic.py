"""Version 15: a problem may ask for deterministic gradients; one that says nothing does not."""

import sqlite3


def name_deterministic(connection: sqlite3.Connection) -> None:
    """Change no table: the JSON of a problem may have `deterministic`, which older versions would refuse."""
    del connection
