"""Statements made from record types: what is written fits, what is read is validated."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from flashscope.profiles.store.digest import Digests
from flashscope.profiles.store.schema import MAX_JSON, MAX_ROWS, MAX_TEXT
from flashscope.profiles.wire.text import in_utf8

R = TypeVar("R", bound=msgspec.Struct)
AT_ONCE = 1000  # rows
PLACE = re.compile(r"\$\[\d+\]\[(\d+)\]")  # of a value in rows, as msgspec names it


class TooLargeError(OverflowError):
    """What a session file cannot hold; the text names it, to stand behind "cannot hold"."""


def insert(table: str, record: type[msgspec.Struct]) -> str:
    """The statement that stores one record of that type, by named parameters."""
    names = record.__struct_fields__
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{n}' for n in names)})"  # noqa: S608 - our names


def select(record: type[msgspec.Struct], source: str) -> str:
    """The statement that reads records of that type from a table (and its ORDER BY)."""
    return f"SELECT {', '.join(record.__struct_fields__)} FROM {source}"  # noqa: S608 - our names


def parameters(record: msgspec.Struct) -> Mapping[str, Any]:
    """The named parameters of one record, its texts such as a file can hold.

    Raises:
        TooLargeError: JSON, which means nothing when it is cut, is too long.
    """
    values = msgspec.structs.asdict(record)
    for name, most in longest_texts(type(record)).items():
        text = values[name]
        if text is None:
            continue
        if most != MAX_JSON:
            values[name] = cut_text(text, most)
        elif len(text) > most:
            raise TooLargeError(f"a {name} of {len(text)} characters")
    return values


def cut_text(text: str, most: int = MAX_TEXT) -> str:
    """The text as UTF-8 can hold it, with a mark in place of what is beyond so many characters."""
    text = in_utf8(text)
    if len(text) <= most:
        return text
    mark = f"… [cut, {len(text)} characters]"
    return text[: most - len(mark)] + mark


@cache
def longest_texts(record: type[msgspec.Struct]) -> Mapping[str, int]:
    """How many characters each text of a record may have."""
    described = cast("msgspec.inspect.StructType", msgspec.inspect.type_info(record))
    found = {}
    for field in described.fields:
        kinds = field.type.types if isinstance(field.type, msgspec.inspect.UnionType) else (field.type,)
        for kind in kinds:
            if isinstance(kind, msgspec.inspect.StrType) and kind.max_length is not None:
                found[field.name] = kind.max_length
    return found


def records(
    connection: sqlite3.Connection, kind: type[R], source: str, digests: Digests | None = None
) -> Iterator[R]:
    """Every row of a table (and its ORDER BY) as a record.

    Raises:
        ValueError: There are too many, or a value is none that a session holds.
    """
    table, taken = source.partition(" ")[0], 0
    cursor = connection.execute(select(kind, source))
    while rows := cursor.fetchmany(AT_ONCE):
        taken += len(rows)
        if taken > MAX_ROWS:
            raise ValueError(f"more than {MAX_ROWS} rows of {source}")
        if digests is not None:
            digests.take(table, rows)
        yield from _converted(rows, kind, table)


def _converted(rows: list[tuple[Any, ...]], kind: type[R], table: str) -> list[R]:
    try:
        return msgspec.convert(rows, list[kind])  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        names = kind.__struct_fields__
        told = PLACE.sub(lambda found: f"{table}.{names[int(found[1])]}", str(error))
        raise msgspec.ValidationError(told) from error
