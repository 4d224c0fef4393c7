"""Copies of session files as damage, other programs and ill will would leave them, by a seed."""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

PAGE = 4096
Dice = random.Random
Mutation = Callable[[Path, Dice], None]
DEEP = "[" * 5_000 + "]" * 5_000
VALUES: Sequence[object] = (
    *(None, 0, 1, -1, 2**63 - 1, -(2**63), 0.5, -0.0, 9e999, -9e999, 1e308, "NaN", "", "x", "done", "wrong"),
    *("[]", "{}", "null", DEEP, DEEP[:5_000], "x" * 5_000, b"", b"\x80", b"\xff" * 999),
    *("<img src=/dev/zero>", "\x1b[2J", "0001-01-01T00:00:00", "9999-12-31T23:59:59+23:59"),
)
TABLES = (
    *("session", "points", "measurements", "figures", "correctness", "errors", "samples", "readings"),
    "batches",
    "parts",
)
UNCHANGEABLE = (sqlite3.Error, OverflowError, UnicodeDecodeError)  # what was damaged before, by what it says
STATEMENTS = (
    "UPDATE points SET reason = hex(zeroblob(600000)) WHERE point = 0",
    "CREATE TABLE extra (x)",
    "CREATE VIEW v AS SELECT * FROM points",
    "CREATE TRIGGER t AFTER UPDATE ON session BEGIN DELETE FROM points; END",
    "PRAGMA user_version = {n}",
    "PRAGMA application_id = {n}",
    "DELETE FROM {table} WHERE rowid % 2 = 0",
    "DELETE FROM {table}",
    "VACUUM",
    "ANALYZE",
    "PRAGMA journal_mode = WAL",
    "INSERT INTO traces (trace) VALUES (randomblob(999))",
)


def mutate(source: Path, target: Path, seed: int) -> str:
    """Make a mutated copy, with what lies beside it, at a path that does not exist; returns what was done."""
    dice = random.Random(seed)  # noqa: S311 - a test's own
    shutil.copyfile(source, target)
    chosen = dice.choices(OF_FILES, k=dice.choice([1, 1, 1, 2, 3])) if dice.random() < 0.8 else []
    if not chosen or dice.random() < 0.2:
        chosen.append(dice.choice(OF_WHAT_LIES_BESIDE))  # last: to change a file SQLite would use that
    for mutation in chosen:
        mutation(target, dice)
    return ", then ".join(mutation.__name__.strip("_").replace("_", " ") for mutation in chosen)


def _flip_bytes(path: Path, dice: Dice) -> None:
    content = bytearray(path.read_bytes())
    first = dice.choice([100, PAGE, len(content)])  # the header, the schema, anywhere
    for _ in range(dice.choice([1, 1, 4, 64])):
        if content:
            content[dice.randrange(min(first, len(content)))] = dice.randrange(256)
    path.write_bytes(content)


def _cut(path: Path, dice: Dice) -> None:
    os.truncate(path, dice.randrange(path.stat().st_size + 1))


def _lengthen(path: Path, dice: Dice) -> None:
    with path.open("ab") as file:
        file.write(dice.randbytes(dice.choice([1, PAGE, 3 * PAGE])))


def _move_pages(path: Path, dice: Dice) -> None:
    """Swap two pages, or put one, or nothing, in the place of another."""
    content = bytearray(path.read_bytes())
    here, there = (dice.randrange(len(content) // PAGE + 1) * PAGE for _ in range(2))
    kept = content[here : here + PAGE]
    content[here : here + PAGE] = dice.choice([content[there : there + PAGE], bytes(PAGE)])
    if dice.random() < 0.5:
        content[there : there + PAGE] = kept
    path.write_bytes(content)


def _change_a_value(path: Path, dice: Dice) -> None:
    table, value = dice.choice(TABLES), dice.choice(VALUES)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        try:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            where = dice.choice(["", " WHERE rowid = 1", " WHERE point = 0"])
            column = dice.choice(columns or ["x"])
            connection.execute(f"UPDATE {table} SET {column} = ?{where}", (value,))  # noqa: S608 - a test's own
        except UNCHANGEABLE:
            return


def _change_json(path: Path, dice: Dice) -> None:
    """Put a value in the place of a number or a text somewhere in a plan, a machine or a problem."""
    table, column = dice.choice(
        [("session", "plan"), ("session", "machine"), ("points", "problem"), ("parts", "resumed")]
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        try:
            tree = f"SELECT fullkey FROM {table}, json_tree({column}) WHERE atom IS NOT NULL LIMIT 500"  # noqa: S608 - as above
            keys = [key for (key,) in connection.execute(tree)]
            change = f"UPDATE {table} SET {column} = json_set({column}, ?, ?)"  # noqa: S608 - as above
            connection.execute(change, (dice.choice(keys or ["$"]), dice.choice(VALUES[:16])))
        except UNCHANGEABLE:
            return


def _say_something(path: Path, dice: Dice) -> None:
    statement = dice.choice(STATEMENTS).format(n=dice.choice([0, 1, 3, 99, -1]), table=dice.choice(TABLES))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        try:
            connection.execute(statement)
        except UNCHANGEABLE:
            return


def _kill_a_writer(path: Path, dice: Dice) -> None:
    """Leave file and journal, or log, as a writer does that is killed in the middle of a transaction."""
    mode = dice.choice(["DELETE", "WAL"])
    live = path.with_name("live")
    shutil.copyfile(path, live)
    with closing(sqlite3.connect(live, isolation_level=None)) as connection:
        try:
            for pragma in ("cache_size = 1", "cache_spill = 1", f"journal_mode = {mode}"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE session SET note = 'never to be read'")
            connection.execute("UPDATE samples SET ms = ms + 1")
            if mode == "WAL":
                connection.execute("COMMIT")
        except UNCHANGEABLE:
            pass  # what is there then is left
        for end in ("", "-journal", "-wal"):
            if live.with_name(f"live{end}").exists():
                shutil.copyfile(live.with_name(f"live{end}"), path.with_name(path.name + end))
    for left in path.parent.glob("live*"):
        left.unlink()
    side = path.with_name(path.name + dice.choice(["-journal", "-wal"]))
    if side.is_file() and dice.random() < 0.5:
        dice.choice([_flip_bytes, _cut, _lengthen])(side, dice)


def _lay_something_beside(path: Path, dice: Dice) -> None:
    side = path.with_name(path.name + dice.choice(["-journal", "-wal", "-shm"]))
    if os.path.lexists(side):
        return
    kinds: Sequence[Callable[[], object]] = (
        lambda: os.mkfifo(side),
        side.mkdir,
        side.touch,
        lambda: side.write_bytes(dice.randbytes(dice.choice([1, 512, PAGE]))),
        lambda: side.symlink_to(dice.choice(["/dev/zero", "nowhere", path.name, side.name])),
        lambda: side.write_bytes(path.read_bytes()[: 2 * PAGE]),
    )
    dice.choice(kinds)()


OF_FILES: Sequence[Mutation] = (
    _flip_bytes,
    _cut,
    _lengthen,
    *(_move_pages,) * 2,
    *(_change_a_value,) * 4,
    *(_change_json,) * 2,
    _say_something,
)
OF_WHAT_LIES_BESIDE: Sequence[Mutation] = (_kill_a_writer, _lay_something_beside)
