"""Copies of session files with other values of the same types, sealed again, by a seed: three in four open.

Damage seldom gets past the digests. What gets here has been through a recorder, for all that a reader knows.
"""

import json
import math
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

from flashscope.profiles.store.digest import seal
from flashscope.profiles.store.migrations import migrate
from flashscope.profiles.store.parts import _digest as digest_of_part
from flashscope.profiles.store.sealed_rows import seal_batches
from flashscope.profiles.wire.events import FailedStatus

Dice = random.Random
INTEGERS = (
    *(0, 1, -1, 2, 7, 100, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 40, 1 << 52, 1 << 62),
    *((1 << 63) - 1, -(1 << 63)),
)
REALS = (
    *(0.0, 1.0, -1.0, 0.5, 1e-9, 1e-300, 5e-324, 1e15, 1e100, 1e300, 1.7e308, -1.7e308),
    *(math.inf, -math.inf),
)
TEXTS = (
    *(
        "",
        "x",
        "a,b",
        "-",
        "NaN",
        "x" * 3000,
        "\x1b[2J\x07",
        "\u202e\u2066abc",
        "<b>&\"'",
        "{0} %s \\",
        "\n\r\t",
    ),
    *("standard", "flash2", "done", "0001-01-01T00:00:00", "9999-12-31T23:59:59+23:59"),
)
STATUSES = ("done", *get_args(FailedStatus))
COLUMNS: Mapping[str, Sequence[str]] = {
    "session": ("name", "note", "started_at", "t0_ns", "ended_ns", "outcome"),
    "points": ("predicted_bytes", "status", "reason", "detail", "started_ns", "sampling_ns", "ended_ns"),
    "measurements": ("timer", "cold", "note"),
    "figures": ("value", "low", "high", "source", "missing", "key"),
    "correctness": ("rows_compared", "passed"),
    "errors": ("output", "error", "bound", "place_sequence", "place_head", "place_row"),
    "samples": ("ms", "rejected", "round", "t_ns", "sm_clock_mhz"),
    "readings": (
        *("t_ns", "memory_used", "utilisation", "power_w", "temperature_c", "sm_clock_mhz"),
        *("memory_clock_mhz", "sm_share", "tensor_share", "dram_share"),
    ),
}
DOCUMENTS = (("session", "machine"), ("session", "telemetry"), ("traffic", "curve"), ("ceilings", "measured"))
NOT_NULL = frozenset({"name", "note", "started_at", "t0_ns", "predicted_bytes", "status", "reason", "detail"})
FEW_VALUES: Mapping[str, Sequence[object]] = {
    "status": STATUSES,
    "outcome": ("finished", "cancelled", "failed"),
    "cold": (0, 1),
    "passed": (0, 1),
    "rows_compared": (0, 1, (1 << 63) - 1),
    "started_at": ("0001-01-01T00:00:00", "9999-12-31T23:59:59+23:59", "2026-01-01"),
}
OF_ORDER = ("shuffle", "interleave", "drift_check")
NAMED = frozenset({"dtype", "pass", "backend", "event", "pattern", "kept"})
"""Leaves of documents that have few values, or one that belongs to another."""


def mutate_typed(source: Path, target: Path, seed: int) -> str:
    """Make a copy with one to six changes, at a path that does not exist; returns what was changed."""
    dice = Dice(seed)
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        migrate(connection)
        told = [dice.choice(CHANGES)(connection, dice) for _ in range(dice.choice((1, 1, 2, 3, 6)))]
        _seal_all(connection)
        connection.execute("COMMIT")
    return ", then ".join(told)


def _seal_all(connection: sqlite3.Connection) -> None:
    for (point,) in connection.execute("SELECT point FROM points").fetchall():
        seal(connection, point)
    connection.execute("DELETE FROM batches")
    seal_batches(connection)
    for part, resumed in connection.execute("SELECT part, resumed FROM parts").fetchall():
        connection.execute(
            "UPDATE parts SET digest = ? WHERE part = ?", (digest_of_part(part, resumed), part)
        )


def _change_column(connection: sqlite3.Connection, dice: Dice) -> str:
    """Another value of one row, of one point's rows, or of all."""
    table = dice.choice([*COLUMNS, "samples", "figures", "errors", "readings"])
    column = dice.choice(COLUMNS[table])
    found = connection.execute(
        f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY random() LIMIT 1"  # noqa: S608 - our names
    ).fetchone()
    if found is None:
        return f"nothing of {table}"
    value = _other(found[0], dice) if column not in FEW_VALUES else dice.choice(FEW_VALUES[column])
    if dice.random() < 0.1 and column not in NOT_NULL:
        value = None
    key = "point" if table not in {"session", "readings"} else "rowid"
    most = connection.execute(f"SELECT max({key}) FROM {table}").fetchone()[0]  # noqa: S608 - as above
    where = dice.choice(["", "", f"WHERE {key} = {dice.randint(0, most)}", f"WHERE {key} % 2 = 0"])
    try:
        connection.execute(f"UPDATE {table} SET {column} = ? {where}", (value,))  # noqa: S608 - as above
    except (sqlite3.IntegrityError, OverflowError):
        return f"nothing of {table}.{column}"
    return f"{table}.{column} = {value!r:.40} {where}"


def _change_document(connection: sqlite3.Connection, dice: Dice) -> str:
    """Another value of the same type somewhere in a document."""
    table, column = dice.choice(DOCUMENTS)
    rows = connection.execute(f"SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL").fetchall()  # noqa: S608 - as above
    if not rows:
        return f"nothing of {table}"
    rowid, text = dice.choice(rows)
    document = json.loads(text)
    what = _change_leaf(document, dice)
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (json.dumps(document), rowid))  # noqa: S608 - as above
    return f"{table}.{column}: {what}"


def _change_plan(connection: sqlite3.Connection, dice: Dice) -> str:
    """Another problem, kernel or protocol, in the plan and in every point of it."""
    (text,) = connection.execute("SELECT plan FROM session").fetchone()
    plan = json.loads(text)
    what = dice.choice([_change_problem, _change_problem, _change_problem, _change_kernel, _change_protocol])(
        connection, plan, dice
    )
    connection.execute("UPDATE session SET plan = ?", (json.dumps(plan),))
    return f"plan: {what}"


def _change_problem(connection: sqlite3.Connection, plan: dict[str, Any], dice: Dice) -> str:
    place = dice.randrange(len(plan["problems"]))
    problem = plan["problems"][place]
    before = json.dumps(problem, sort_keys=True)
    what = _change_leaf(problem, dice)
    for point, text in connection.execute("SELECT point, problem FROM points").fetchall():
        if _told(text) == _told(before):
            connection.execute("UPDATE points SET problem = ? WHERE point = ?", (json.dumps(problem), point))
    return what


def _change_kernel(connection: sqlite3.Connection, plan: dict[str, Any], dice: Dice) -> str:
    place = dice.randrange(len(plan["kernels"]))
    before, after = plan["kernels"][place], dice.choice([*TEXTS, "flash1", "flash3", "fused", "torch-flash"])
    plan["kernels"][place] = after
    connection.execute("UPDATE points SET kernel = ? WHERE kernel = ?", (after, before))
    return f"{before} is {after!r:.40}"


def _change_protocol(_: sqlite3.Connection, plan: dict[str, Any], dice: Dice) -> str:
    """What decides which points there are, and in which order, stays."""
    protocol = plan["protocol"]
    kept = {name: protocol[name] for name in OF_ORDER if name in protocol}
    what = _change_leaf(protocol, dice)
    protocol |= kept
    return what


def _told(problem: str) -> dict[str, Any]:
    """A problem as its file has it, without what stands for nothing."""
    return {name: value for name, value in json.loads(problem).items() if value is not None}


def _change_leaf(document: Any, dice: Dice) -> str:
    leaves = [*_leaves(document)]
    if not leaves:
        return "nothing"
    parent, key = dice.choice(leaves)
    parent[key] = _other(parent[key], dice, finite=True)
    return f"{key} = {parent[key]!r:.40}"


def _leaves(document: Any) -> Iterator[tuple[Any, Any]]:
    """Where a document's numbers, texts and booleans stand."""
    places = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in places:
        if isinstance(value, dict | list):
            yield from _leaves(value)
        elif value is not None and key not in NAMED:
            yield document, key


def _other(value: Any, dice: Dice, *, finite: bool = False) -> Any:
    """Another value of the same type: an extreme one, or one near by."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return dice.choice(TEXTS)
    if isinstance(value, int):
        near = (value + 1, value - 1, -value, 2 * value, value // 2, value * 1000)
        return max(-(1 << 63), min(dice.choice([*INTEGERS, *near]), (1 << 63) - 1))
    near_by = (value * 1.01, -value, value * 1e6, value / 1e6)
    drawn = dice.choice([*REALS, *near_by])
    return drawn if math.isfinite(drawn) or not finite else 1e308


CHANGES: Sequence[Callable[[sqlite3.Connection, Dice], str]] = (
    *(_change_column,) * 5,
    *(_change_document,) * 2,
    *(_change_plan,) * 2,
)
