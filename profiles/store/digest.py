"""A digest of a point's rows, written when it ends: SQLite sees no damage where pages were swapped."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from hashlib import blake2b
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
    "point_devices": "point",
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
    "point_devices": ("point", "device"),
}
"""What is digested, as the first columns of a record. It never changes, or known digests would: later columns
need a digest of their own."""

_encode = msgspec.msgpack.Encoder().encode  # of a hundred thousand rows


class Digests:
    """The digests of points whose rows are taken in table by table."""

    def __init__(self) -> None:
        self._hashes: defaultdict[int, Any] = defaultdict(lambda: blake2b(digest_size=16))

    def take(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Take in rows, as SQLite gives them, of these columns first; a point's in the order of `ORDERS`."""
        hashes, digested = self._hashes, len(COLUMNS[table])
        for row in rows:
            hashes[row[0]].update(_encode((table, *row[:digested])))

    def of(self, point: int) -> str:
        """The digest of a point's rows, in hex."""
        return str(self._hashes[point].hexdigest())


def seal(connection: sqlite3.Connection, point: int) -> None:
    """Write the digest of a point as its rows are now."""
    digests = Digests()
    for table, order in ORDERS.items():
        names = COLUMNS[table]
        query = f"SELECT {', '.join(names)} FROM {table} WHERE point = ? ORDER BY {order}"  # noqa: S608 - our names
        digests.take(table, connection.execute(query, (point,)))
    connection.execute("UPDATE points SET digest = ? WHERE point = ?", (digests.of(point), point))
