"""Version 14: a problem may have lengths of its sequences and a page size; all before had neither."""

import sqlite3


def name_lengths(connection: sqlite3.Connection) -> None:
    """Change no table: the JSON of a problem may name them, which older versions would refuse."""
    del connection
