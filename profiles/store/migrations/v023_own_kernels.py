"""Version 23: a plan may name kernels of the user's own, with what their files declare."""

import sqlite3


def name_own_kernels(connection: sqlite3.Connection) -> None:
    """Change no table: a plan may hold a list `own`, and older versions do not know such kernels."""
    del connection
