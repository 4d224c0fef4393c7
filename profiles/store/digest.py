"""A digest of a point's rows, written when it ends: SQLite sees no damage where pages were swapped."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from hashlib import blake2b
from operator import itemgetter
from typing import Any

import msgspec

NO_DIGEST = ""  # of points written before there were digests
ORDERS: Mapping[str, str] = {
    "points": "point",
    "measurements": "point",
    "figures": "point, key",
    "correctness": "point",
    "errors": "point, n",
    "samples": "point, n",
    "traffic": "point",
}
"""The tables with rows of points, in the order in which they are digested, and the order of their rows."""
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "points": (
        *("point", "kernel", "problem", "predicted_bytes", "status", "reason", "detail"),
        *("started_ns", "sampling_ns", "ended_ns"),
    ),
    "measurements": ("point", "timer", "cold", "note"),
    "figures": ("point", "key", "value", "low", "high", "source", "missing"),
    "correctness": ("point", "rows_compared", "passed"),
    "errors": (
        *("point", "n", "output", "error", "bound"),
        *("place_sequence", "place_head", "place_row"),
    ),
    "samples": ("point", "n", "ms", "rejected", "round", "t_ns", "sm_clock_mhz"),
    "traffic": ("point", "curve"),
}
"""What is digested. It never changes, or known digests would: later columns need a digest of their own."""

_DIGESTED = {table: itemgetter(*names) for table, names in COLUMNS.items()}
_encode = msgspec.msgpack.Encoder().encode  # of a hundred thousand rows


class Digests:
    """The digests of points whose rows are taken in table by table."""

    def __init__(self) -> None:
        self._hashes: defaultdict[int, Any] = defaultdict(lambda: blake2b(digest_size=16))

    def take(self, table: str, row: Mapping[str, Any]) -> None:
        """Take in one row, as SQLite gives it; the rows of a point in the order of `ORDERS`."""
        self._hashes[row["point"]].update(_encode((table, *_DIGESTED[table](row))))

    def of(self, point: int) -> str:
        """The digest of a point's rows, in hex."""
        return str(self._hashes[point].hexdigest())


def seal(connection: sqlite3.Connection, point: int) -> None:
    """Write the digest of a point as its rows are now."""
    digests = Digests()
    for table, order in ORDERS.items():
        names = COLUMNS[table]
        query = f"SELECT {', '.join(names)} FROM {table} WHERE point = ? ORDER BY {order}"  # noqa: S608 - our names
        for row in connection.execute(query, (point,)):
            digests.take(table, dict(zip(names, row, strict=True)))
    connection.execute("UPDATE points SET digest = ? WHERE point = ?", (digests.of(point), point))
