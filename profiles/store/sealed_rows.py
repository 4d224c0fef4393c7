"""Readings, ceilings and what is one value each in batches of rows, with digests written with them.

SQLite sees no damage where pages were swapped; a batch with other rows than those written does not count.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import chain
from typing import Any

import msgspec

from flashscope.profiles.store.digest import NO_DIGEST

Row = tuple[Any, ...]
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "readings": (
        *("n", "t_ns", "memory_used", "utilisation", "power_w", "temperature_c"),
        *("sm_clock_mhz", "memory_clock_mhz", "throttle"),
        *("sm_share", "tensor_share", "dram_share"),
        "device",
    ),
    "traces": ("n", "trace"),
    "ceilings": ("n", "measured"),
    "timelines": ("n", "timeline"),
    "stall_profiles": ("n", "profile"),
    "landscapes": ("n", "landscape"),
    "audits": ("n", "audit"),
    "backward_traces": ("n", "trace"),
    "ranks": ("n", "result"),
}
"""What is digested, the place of a row in its table first; new ones come last, see `_digest`."""
STAGES: Mapping[str, tuple[int, ...]] = {"readings": (9, 12)}
"""How many columns a table had before others came, rising; none: it has had all from the begin."""
MOST: Mapping[str, int] = {"readings": 1000} | {table: 1 for table in COLUMNS if table != "readings"}
"""Rows of a batch."""
BEYOND_ALL = 1 << 63


def seal_batches(connection: sqlite3.Connection) -> None:
    """Write the digests of the rows that were written since this was called last, in the same transaction."""
    for table, most in MOST.items():
        (sealed,) = connection.execute("SELECT max(last) FROM batches WHERE name = ?", (table,)).fetchone()
        rows = connection.execute(_select(table, "WHERE n > ?"), (sealed or 0,))
        while batch := rows.fetchmany(most):
            values = table, batch[-1][0], _digest(table, batch)
            connection.execute("INSERT INTO batches (name, last, digest) VALUES (?, ?, ?)", values)


def read_batches(connection: sqlite3.Connection, table: str) -> Iterator[tuple[list[Row], bool]]:
    """Every row of a table, in lists, each with whether its rows are those that were written.

    Those of a file from before there were digests are taken for them. Where a batch lost all its rows, the
    list is empty.
    """
    rows = connection.execute(_select(table, ""))
    ends = connection.execute("SELECT last, digest FROM batches WHERE name = ? ORDER BY last", (table,))
    row = rows.fetchone()
    for last, digest in chain(ends, [(BEYOND_ALL, None)]):
        batch: list[Row] = []
        whole = True
        while row is not None and row[0] <= last:
            if len(batch) == MOST[table]:
                whole = digest == NO_DIGEST
                yield batch, whole
                batch = []
            batch.append(row)
            row = rows.fetchone()
        if batch or digest is not None:
            yield batch, whole and digest in {NO_DIGEST, _digest(table, batch)}


def _select(table: str, where: str) -> str:
    return f"SELECT {', '.join(COLUMNS[table])} FROM {table} {where} ORDER BY n"  # noqa: S608 - our names


def _digest(table: str, rows: list[Row]) -> str:
    """Of the rows, each without the columns that came later if it has nothing in them: as they once were."""
    stages = STAGES.get(table, ())
    known = [_as_it_was(row, stages) for row in rows]
    return blake2b(msgspec.msgpack.encode(known), digest_size=16).hexdigest()


def _as_it_was(row: Row, stages: tuple[int, ...]) -> Row:
    return next((row[:n] for n in stages if all(value is None for value in row[n:])), row)
