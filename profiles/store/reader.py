"""From a checked file to a Session; every value in it is validated before it is believed."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from kernels.errors import InputError
from kernels.trace import Trace
from profiles.plan.machine import Machine
from profiles.plan.plan import Plan
from profiles.results.session import Session
from profiles.store.errors import CorruptFileError
from profiles.store.opening import being_written, opened
from profiles.store.points import read_points
from profiles.store.records import ReadingRecord, SessionRecord
from profiles.store.schema import MAX_POINTS, MAX_ROWS, MAX_TRACES
from profiles.store.statements import bounded, records, select
from profiles.store.traces import decode_trace
from profiles.wire.events import Reading, TelemetryStarted

INTERRUPTED = "The session's writer ended while this point was running; run the sweep again to measure it."

BATCH = 1000  # readings: about two milliseconds of work


def load(path: Path) -> Session:
    """Read a session; a point that was running when its writer died is `interrupted`.

    Raises:
        SessionFileError: As `loading`.
    """
    with loading(path) as (session, readings):
        for batch in readings:
            session.readings.extend(batch)
    return session


@contextmanager
def loading(path: Path) -> Iterator[tuple[Session, Iterator[list[Reading]]]]:
    """A session without its readings, and these in batches, oldest first: there may be a million.

    Raises:
        ForeignFileError: It is not a session.
        CorruptFileError: It is damaged or holds what no session holds.
        NewerFileError: It was written by a newer Flashscope.
        SessionFileError: It is missing, a folder, or may not be read.
    """
    with validating(path), opened(path) as connection:
        session = read_session(connection)
        if session.in_flight and not being_written(path):
            _interrupt(session)
        with validating(path, "its telemetry cannot be read whole"):
            yield session, _readings(connection)


WRONG_VALUES = (msgspec.MsgspecError, InputError, ValueError, OverflowError, TypeError, RecursionError)
"""What reading raises where a file holds what no session holds; the last for values nested without end."""


class validating:  # noqa: N801 - reads as the context it is
    """Turns whatever is wrong with the values in a file into a CorruptFileError that names the file."""

    def __init__(self, path: Path, consequence: str = "it was not opened") -> None:
        self.path, self.consequence = path, consequence

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, WRONG_VALUES):
            raise CorruptFileError(
                f"{self.path} holds values that no session holds ({error}); {self.consequence}."
            ) from error


def read_head(connection: sqlite3.Connection) -> tuple[SessionRecord, Plan, Machine]:
    """The session's row, its plan and its machine."""
    decoded = list(records(connection, SessionRecord, "session LIMIT 2"))
    if len(decoded) != 1:
        raise ValueError(f"{len(decoded)} sessions in place of 1")
    head = decoded[0]
    datetime.fromisoformat(head.started_at)
    plan = msgspec.json.decode(head.plan, type=Plan)
    if len(plan.kernels) * len(plan.problems) > MAX_POINTS:
        raise ValueError(f"a plan of more than {MAX_POINTS} points")
    return head, plan, msgspec.json.decode(head.machine, type=Machine)


def read_session(connection: sqlite3.Connection) -> Session:
    """Everything in the file but the readings, as it stands there."""
    head, plan, machine = read_head(connection)
    telemetry = head.telemetry and msgspec.json.decode(head.telemetry, type=TelemetryStarted)
    return Session(
        id=head.id,
        plan=plan,
        machine=machine,
        started_at=head.started_at,
        t0_ns=head.t0_ns,
        points=read_points(connection, plan),
        telemetry=telemetry or None,
        traces=_traces(connection),
        outcome=head.outcome,
        ended_ns=head.ended_ns,
        name=head.name,
        note=head.note,
    )


def _readings(connection: sqlite3.Connection) -> Iterator[list[Reading]]:
    rows = connection.execute(select(ReadingRecord, "readings ORDER BY n"))
    taken = 0
    while batch := rows.fetchmany(BATCH):
        taken += len(batch)
        if taken > MAX_ROWS:
            raise ValueError(f"more than {MAX_ROWS} readings")
        yield [record.reading() for record in msgspec.convert(batch, list[ReadingRecord])]


def _traces(connection: sqlite3.Connection) -> list[Trace]:
    blobs = bounded(connection.execute("SELECT trace FROM traces ORDER BY n"), MAX_TRACES, "traces")
    return [decode_trace(blob) for (blob,) in blobs]


def _interrupt(session: Session) -> None:
    for state in session.points:
        if state.status == "running":
            state.status, state.reason = "interrupted", INTERRUPTED
