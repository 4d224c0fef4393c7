"""Version 12: a reading may have the shares of the multiprocessors, of their tensor cores and of DRAM."""

import sqlite3


def keep_shares(connection: sqlite3.Connection) -> None:
    """Make a place for them; readings that are there have none."""
    for column in ("sm_share", "tensor_share", "dram_share"):
        connection.execute(f"ALTER TABLE readings ADD COLUMN {column} REAL")
