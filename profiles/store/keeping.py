"""Timelines that a user keeps in a session after it was measured, and takes out again."""

from pathlib import Path

import msgspec

from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.profiles.store.errors import ReplacedFileError, SessionFileError
from flashscope.profiles.store.mark import SessionMark
from flashscope.profiles.store.opening import editing
from flashscope.profiles.store.schema import MAX_TIMELINES, MAX_VALUE_BYTES
from flashscope.profiles.store.sealed_rows import seal_batches


def keep_timeline(path: Path, timeline: StageTimeline, meant: str) -> int:
    """Write a timeline into a session, behind those that it has; returns its number there.

    Args:
        path: The session's file.
        timeline: What is kept.
        meant: Id of the session that is meant.

    Raises:
        ReplacedFileError: The file holds another session; nothing is written.
        SessionFileError: It has as many as it may, the timeline is too large, or the file cannot be written.
    """
    blob = msgspec.msgpack.encode(timeline)
    if len(blob) > MAX_VALUE_BYTES:
        raise SessionFileError(f"The timeline takes {len(blob) >> 20} MiB; no session file holds so much.")
    with editing(path) as connection:
        if meant != SessionMark.read(connection).id:
            raise ReplacedFileError(path)
        held, last = connection.execute("SELECT count(*), coalesce(max(n), 0) FROM timelines").fetchone()
        if held >= MAX_TIMELINES:
            raise SessionFileError(f"{path} has {held} timelines; it takes no more.")
        connection.execute("INSERT INTO timelines (n, timeline) VALUES (?, ?)", (last + 1, blob))
        seal_batches(connection)
    return int(last) + 1


def drop_timeline(path: Path, number: int, meant: str) -> None:
    """Take a timeline out of a session again.

    Raises:
        ReplacedFileError: The file holds another session; nothing is written.
        SessionFileError: It has none of this number, or the file cannot be written.
    """
    with editing(path) as connection:
        if meant != SessionMark.read(connection).id:
            raise ReplacedFileError(path)
        if not connection.execute("DELETE FROM timelines WHERE n = ?", (number,)).rowcount:
            raise SessionFileError(f"{path} has no timeline {number} any more.")
        connection.execute("DELETE FROM batches WHERE name = 'timelines' AND last = ?", (number,))
