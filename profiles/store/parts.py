"""The parts of a session after its first: how each began, and what it makes of the points before it."""

import os
import sqlite3
from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from flashscope.profiles.plan.plan import Plan, Point
from flashscope.profiles.results.model.session import INTERRUPTED, NOT_REPEATED
from flashscope.profiles.store.digest import seal
from flashscope.profiles.store.records import Json, Record, RecordKey
from flashscope.profiles.store.schema import MAX_PARTS
from flashscope.profiles.store.statements import TooLargeError, insert, parameters, records
from flashscope.profiles.wire.events import PlanResumed

REPEAT = (
    "INSERT INTO points (point, kernel, problem, predicted_bytes, status, reason, detail) "
    "SELECT ?, kernel, problem, predicted_bytes, 'pending', '', '' FROM points WHERE point = ?"
)


class PartRecord(Record, frozen=True, kw_only=True):
    """A row of `parts`; `resumed` is its PlanResumed."""

    part: int
    resumed: Json
    digest: RecordKey


def write_part(connection: sqlite3.Connection, event: PlanResumed) -> None:
    """Begin another part of the session in the file.

    Raises:
        TooLargeError: It has as many parts as a file can hold.
    """
    if event.part > MAX_PARTS:
        raise TooLargeError(f"more than {MAX_PARTS} parts of a session")
    _give_up_repeats(connection)
    _interrupt(connection, "status = 'running'", INTERRUPTED)
    (first,) = connection.execute("SELECT max(point) + 1 FROM points").fetchone()
    connection.executemany(REPEAT, enumerate(event.repeats, first))
    text = msgspec.json.encode(event).decode()
    record = PartRecord(part=event.part, resumed=text, digest=_digest(event.part, text))
    connection.execute(insert("parts", PartRecord), parameters(record))
    state = "UPDATE session SET outcome = NULL, ended_ns = NULL, writer = ?"
    connection.execute(state, (f"process {os.getpid()}",))
    if event.telemetry is not None:
        telemetry = msgspec.json.encode(event.telemetry).decode()
        connection.execute("UPDATE session SET telemetry = ?", (telemetry,))


def is_next(connection: sqlite3.Connection, event: PlanResumed) -> bool:
    """Whether the file holds the session that was read, and it has not gone on since."""
    (session_id,) = connection.execute("SELECT id FROM session").fetchone()
    (last,) = connection.execute("SELECT max(part) FROM parts").fetchone()
    return (session_id, (last or 1) + 1) == (event.session_id, event.part)


def _give_up_repeats(connection: sqlite3.Connection) -> None:
    """As Session.give_up_repeats."""
    parts = connection.execute("SELECT resumed FROM parts ORDER BY part")
    repeated = sum(len(msgspec.json.decode(text, type=PlanResumed).repeats) for (text,) in parts)
    (points,) = connection.execute("SELECT count(*) FROM points").fetchone()
    unfinished = f"point >= {points - repeated} AND status IN ('pending', 'running')"
    _interrupt(connection, unfinished, NOT_REPEATED)


def _interrupt(connection: sqlite3.Connection, which: str, reason: str) -> None:
    """Close the points of this condition: nobody measures them any more."""
    query = f"SELECT point FROM points WHERE {which}"  # noqa: S608 - our condition
    for (point,) in connection.execute(query).fetchall():
        ended = "UPDATE points SET status = 'interrupted', reason = ? WHERE point = ?"
        connection.execute(ended, (reason, point))
        seal(connection, point)


def read_parts(connection: sqlite3.Connection, plan: Plan) -> list[PlanResumed]:
    """How each part after the first began.

    Raises:
        ValueError: They are not those written, or cannot be parts of this plan.
    """
    planned = len(plan.points())
    parts: list[PlanResumed] = []
    for record in records(connection, PartRecord, "parts ORDER BY part"):
        if record.digest != _digest(record.part, record.resumed):
            raise ValueError(f"part {record.part} is not as it was written")
        event = msgspec.json.decode(record.resumed, type=PlanResumed)
        named = [*(attempt.index for attempt in event.again), *event.repeats]
        if event.part != record.part or record.part != len(parts) + 2 or record.part > MAX_PARTS:
            raise ValueError("parts that do not follow one another")
        if not all(0 <= index < planned for index in named) or len(event.repeats) > planned:
            raise ValueError(f"part {event.part} is about points that its plan does not have")
        parts.append(event)
    return parts


def points_of(plan: Plan, parts: Sequence[PlanResumed]) -> list[Point]:
    """Every point that a session of these parts has: those of its plan, then what was repeated."""
    points = list(plan.points())
    for part in parts:
        points.extend(plan.again(part.repeats, len(points)))
    return points


def _digest(part: int, resumed: str) -> str:
    return blake2b(f"{part} {resumed}".encode(), digest_size=16).hexdigest()
