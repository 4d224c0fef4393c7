"""Traces, timelines and landscapes that a user keeps in a session after it was measured, or takes out."""

from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.store.errors import ReplacedFileError, SessionFileError
from flashscope.profiles.store.mark import SessionMark
from flashscope.profiles.store.opening import editing
from flashscope.profiles.store.schema import MAX_LANDSCAPES, MAX_TIMELINES, MAX_TRACES, MAX_VALUE_BYTES
from flashscope.profiles.store.sealed_rows import seal_batches

Keepable: TypeAlias = Trace | StageTimeline | CutLandscape


class _Place(NamedTuple):
    """Where values of a kind stand.

    Attributes:
        noun: What one is called, and its column.
        table: Its table, and what several are called.
        most: As many as a session takes.
    """

    noun: str
    table: str
    most: int


PLACES: dict[type[Keepable], _Place] = {
    Trace: _Place("trace", "traces", MAX_TRACES),
    StageTimeline: _Place("timeline", "timelines", MAX_TIMELINES),
    CutLandscape: _Place("landscape", "landscapes", MAX_LANDSCAPES),
}


def keep(path: Path, value: Keepable, meant: str) -> int:
    """Write a trace, timeline or landscape into a session, behind those that it has; returns its number.

    Args:
        path: The session's file.
        value: What is kept.
        meant: Id of the session that is meant.

    Raises:
        ReplacedFileError: The file holds another session; nothing is written.
        SessionFileError: It has as many as it may, the value is too large, or the file cannot be written.
    """
    noun, table, most = PLACES[type(value)]
    blob = msgspec.msgpack.encode(value)
    if len(blob) > MAX_VALUE_BYTES:
        raise SessionFileError(f"The {noun} takes {len(blob) >> 20} MiB; no session file holds so much.")
    with editing(path) as connection:
        if meant != SessionMark.read(connection).id:
            raise ReplacedFileError(path)
        counted = f"SELECT count(*), coalesce(max(n), 0) FROM {table}"  # noqa: S608 - our names
        held, last = connection.execute(counted).fetchone()
        if held >= most:
            raise SessionFileError(f"{path} has {held} {table}; it takes no more.")
        connection.execute(f"INSERT INTO {table} (n, {noun}) VALUES (?, ?)", (last + 1, blob))  # noqa: S608 - our names
        seal_batches(connection)
    return int(last) + 1


def drop(path: Path, kind: type[Keepable], number: int, meant: str) -> None:
    """Take a trace, timeline or landscape out of a session again.

    Raises:
        ReplacedFileError: The file holds another session; nothing is written.
        SessionFileError: It has none of this number, or the file cannot be written.
    """
    noun, table, _ = PLACES[kind]
    with editing(path) as connection:
        if meant != SessionMark.read(connection).id:
            raise ReplacedFileError(path)
        if not connection.execute(f"DELETE FROM {table} WHERE n = ?", (number,)).rowcount:  # noqa: S608 - our names
            raise SessionFileError(f"{path} has no {noun} {number} any more.")
        connection.execute("DELETE FROM batches WHERE name = ? AND last = ?", (table, number))
