"""Version 25: a problem may say what is done to scores, as a softcap; all before took them as they are."""

import sqlite3


def name_scoring(connection: sqlite3.Connection) -> None:
    """Change no table: the JSON of a problem may name it, which older versions would refuse."""
    del connection
