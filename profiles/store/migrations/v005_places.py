"""Version 5: single rows of an output are judged, and the worst is named."""

import sqlite3


def name_worst_rows(connection: sqlite3.Connection) -> None:
    """Give an error the sequence, the head and the query row it stands for; NULL where no row is meant."""
    for column in ("place_sequence", "place_head", "place_row"):
        connection.execute(f"ALTER TABLE errors ADD COLUMN {column} INTEGER")
