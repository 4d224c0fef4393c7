"""Version 21: a trace may look at one head of a launch with many, at keys in parts and in pages."""

import sqlite3


def name_heads(connection: sqlite3.Connection) -> None:
    """Change no table: a trace may say which head it is of, and older versions would show another problem."""
    del connection
