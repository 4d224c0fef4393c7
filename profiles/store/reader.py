"""From a checked file to a Session; every value in it is validated before it is believed."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.backward_trace import BackwardTrace
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.stalls import StallProfile
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store.blobs.packing import Unpacking
from flashscope.profiles.store.blobs.places import PLACES
from flashscope.profiles.store.errors import AlteredFileError, CorruptFileError
from flashscope.profiles.store.mark import SessionMark
from flashscope.profiles.store.opening import being_written, opened
from flashscope.profiles.store.parts import read_parts
from flashscope.profiles.store.points import read_points
from flashscope.profiles.store.records import ReadingRecord, SessionRecord
from flashscope.profiles.store.schema import MAX_PARTS, MAX_POINTS, MAX_ROWS
from flashscope.profiles.store.sealed_rows import Row, read_batches
from flashscope.profiles.store.statements import records
from flashscope.profiles.store.words import Field, UserWords, read_bookmarks, read_tags
from flashscope.profiles.wire.ceilings import Ceilings
from flashscope.profiles.wire.events import Reading, TelemetryStarted
from flashscope.profiles.wire.ranks import RanksResult

KeptKind = TypeVar(
    "KeptKind", Trace, StageTimeline, StallProfile, CutLandscape, ModelAudit, BackwardTrace, RanksResult
)
BATCH = 1000  # readings: about two milliseconds of work


def load(path: Path) -> Session:
    """Read a session; a point that was running when its writer died is `interrupted`.

    Raises:
        SessionFileError: As `loading`.
    """
    with loading(path) as (session, readings), suppress(AlteredFileError):
        for batch in readings:
            session.readings.extend(batch)
    return session


@contextmanager
def loading(path: Path) -> Iterator[tuple[Session, Iterator[list[Reading]]]]:
    """A session without its readings, and these in batches, oldest first: there may be a million.

    What is other than what was recorded is left out, and `session.altered` says so in the end.

    Raises:
        AlteredFileError: So it does, once all else has been read.
        ForeignFileError: It is not a session.
        CorruptFileError: It is damaged or holds what no session holds.
        NewerFileError: It was written by a newer Flashscope.
        SessionFileError: It is missing, a folder, or may not be read.
    """
    with validating(path), opened(path) as connection:
        session = read_session(connection)
        lost: dict[str, int] = {}
        unpack = Unpacking()
        session.traces = kept(connection, Trace, lost, unpack)
        session.timelines = kept(connection, StageTimeline, lost, unpack)
        session.stalls = kept(connection, StallProfile, lost, unpack)
        session.landscapes = kept(connection, CutLandscape, lost, unpack)
        session.audits = kept(connection, ModelAudit, lost, unpack)
        session.backward_traces = kept(connection, BackwardTrace, lost, unpack)
        session.ranks = kept(connection, RanksResult, lost, unpack)
        session.ceilings, lost["ceiling"] = _ceilings(connection)
        if session.in_flight and not being_written(path):
            session.interrupt()
        with validating(path, "its telemetry cannot be read whole"):
            altered = _Altered(path, session, lost)
            yield session, _readings(connection, session, altered)


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


def read_run_mark(head: SessionRecord) -> RunMark | None:
    """Which of several runs of one plan a session is; None: it is alone."""
    return None if head.run_mark is None else msgspec.json.decode(head.run_mark, type=RunMark)


def read_words(path: Path) -> dict[Field, UserWords]:
    """What the user says of a session, as its file has it now.

    Raises:
        SessionFileError: It cannot be opened.
    """
    return read_mark(path)[1]


def read_mark(path: Path) -> tuple[SessionMark, dict[Field, UserWords]]:
    """Which session a file holds now, and what the user says of it.

    Raises:
        SessionFileError: It cannot be opened.
    """
    with validating(path), opened(path) as connection:
        head, _plan, _machine = read_head(connection)
        return SessionMark.read(connection), {
            "name": head.name,
            "note": head.note,
            "tags": read_tags(head.tags),
            "bookmarks": read_bookmarks(head.bookmarks, MAX_POINTS),
        }


def read_session(connection: sqlite3.Connection) -> Session:
    """Everything in the file but the readings, and what is kept as one value each, as it stands there."""
    head, plan, machine = read_head(connection)
    parts = read_parts(connection, plan)
    points = read_points(connection, plan, parts)
    telemetry = head.telemetry and msgspec.json.decode(head.telemetry, type=TelemetryStarted)
    return Session(
        id=head.id,
        plan=plan,
        machine=machine,
        started_at=head.started_at,
        t0_ns=head.t0_ns,
        points=points,
        telemetry=telemetry or None,
        outcome=head.outcome,
        ended_ns=head.ended_ns,
        name=head.name,
        note=head.note,
        resumed=parts,
        tags=read_tags(head.tags),
        bookmarks=read_bookmarks(head.bookmarks, len(points)),
        run_mark=read_run_mark(head),
        others=msgspec.json.decode(head.others or "[]", type=tuple[Machine, ...]),
    )


class _Altered:
    """How much of a file is other than what was recorded, and was left out."""

    def __init__(self, path: Path, session: Session, lost: Mapping[str, int]) -> None:
        self._path, self._session, self._lost = path, session, lost
        self.readings = 0

    def tell(self) -> None:
        """Note it in the session, and raise it, if there is any."""
        lost = {"reading": self.readings, **self._lost}
        told = " and ".join(f"{number} {what}{'s' * (number > 1)}" for what, number in lost.items() if number)
        if told:
            self._session.altered = told
            raise AlteredFileError(f"{self._path} was altered since it was recorded; left out: {told}.")


def _readings(connection: sqlite3.Connection, session: Session, altered: _Altered) -> Iterator[list[Reading]]:
    """Those of device 0; what is read of others goes to the session."""
    waiting: list[Row] = []
    taken = 0
    for rows, whole in read_batches(connection, "readings"):
        taken += len(rows)
        if taken > MAX_ROWS:
            raise ValueError(f"more than {MAX_ROWS} readings")
        if whole:
            waiting += rows
        else:
            altered.readings += max(len(rows), 1)
        if len(waiting) >= BATCH:
            yield _converted(waiting, session)
            waiting = []
    yield _converted(waiting, session)
    altered.tell()


def _converted(rows: list[Row], session: Session) -> list[Reading]:
    first: list[Reading] = []
    for record in msgspec.convert([row[1:] for row in rows], list[ReadingRecord]):
        lane = session.readings_of(record.device) if record.device else first
        lane.append(record.reading())
    return first


def kept(
    connection: sqlite3.Connection, kind: type[KeptKind], lost: dict[str, int], unpack: Unpacking
) -> list[KeptKind]:
    """The values of a kind that are those recorded; `lost` is told the number of others."""
    place, found = PLACES[kind], list[KeptKind]()
    lost[place.noun] = 0
    for number, (rows, whole) in enumerate(read_batches(connection, place.table)):
        if number >= place.most:
            raise ValueError(f"more than {place.most} {place.noun}s")
        if whole:
            found += [place.decode(unpack(blob)) for _n, blob in rows]
        else:
            lost[place.noun] += 1
    return found


def _ceilings(connection: sqlite3.Connection) -> tuple[dict[int, Ceilings], int]:
    """What each part's device reached, as far as it is what was recorded, and how much of it is not."""
    found: dict[int, Ceilings] = {}
    altered = 0
    for number, (rows, whole) in enumerate(read_batches(connection, "ceilings")):
        if number >= MAX_PARTS:
            raise ValueError(f"ceilings of more than {MAX_PARTS} parts")
        if whole:
            found |= {part: msgspec.json.decode(text, type=Ceilings) for part, text in rows}
        else:
            altered += 1
    return found, altered
