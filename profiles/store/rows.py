"""Writing a session's plan and events into its tables."""

import sqlite3
from collections.abc import Mapping, Sequence

import msgspec

from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.store.blobs.packing import packed
from flashscope.profiles.store.blobs.places import PLACES, Keepable, room_for
from flashscope.profiles.store.digest import ORDERS, seal
from flashscope.profiles.store.records import (
    CorrectnessRecord,
    ErrorRecord,
    FigureRecord,
    MeasurementRecord,
    PointDeviceRecord,
    PointRecord,
    ReadingRecord,
    SampleRecord,
    SessionRecord,
    TrafficRecord,
    flag,
)
from flashscope.profiles.store.schema import MAX_POINTS, MAX_ROWS, MAX_TRAFFIC, MAX_VALUE_BYTES
from flashscope.profiles.store.statements import TooLargeError, cut_text, insert, parameters
from flashscope.profiles.wire.events import (
    AuditReady,
    BackwardTraceReady,
    CeilingsMeasured,
    Event,
    LandscapeReady,
    PlanFinished,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    PointStatus,
    RanksReady,
    Readings,
    SamplingStarted,
    StallsReady,
    TelemetryStarted,
    TimelineReady,
    TraceReady,
)
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement, Sample, joined_notes
from flashscope.profiles.wire.traffic import Traffic

_SESSION = (
    insert("session", SessionRecord).replace(") VALUES (", ", writer) VALUES (").removesuffix(")")
    + ", :writer)"
)
_POINT = insert("points", PointRecord)
_POINT_DEVICE = insert("point_devices", PointDeviceRecord)
_MEASUREMENT = insert("measurements", MeasurementRecord)
_FIGURE = insert("figures", FigureRecord).replace("INSERT", "INSERT OR REPLACE", 1)  # the newest counts
_CORRECTNESS = insert("correctness", CorrectnessRecord)
_ERROR = insert("errors", ErrorRecord)
_SAMPLE = insert("samples", SampleRecord)
_MEASURED = tuple(table for table in ORDERS if table != "points")
_START = (
    "UPDATE points SET status = 'running', reason = '', detail = '', started_ns = ?, "
    "sampling_ns = NULL, ended_ns = NULL, digest = NULL WHERE point = ?"
)
_CEILINGS = "INSERT INTO ceilings SELECT coalesce(max(part), 1), ? FROM parts"
_READING = insert("readings", ReadingRecord)
_TRAFFIC = insert("traffic", TrafficRecord).replace("INSERT", "INSERT OR REPLACE", 1)


def as_json(value: msgspec.Struct) -> str:
    """A struct as JSON text."""
    return msgspec.json.encode(value).decode()


def write_session(connection: sqlite3.Connection, session: Session, writer: str) -> None:
    """Write the session's row and its points as they stand before the first of them starts.

    Raises:
        TooLargeError: No file can hold its plan.
    """
    if len(session.points) > MAX_POINTS:
        raise TooLargeError(f"a plan of more than {MAX_POINTS} points")
    record = SessionRecord(
        id=session.id,
        name=session.name,
        note=session.note,
        started_at=session.started_at,
        t0_ns=session.t0_ns,
        ended_ns=session.ended_ns,
        outcome=session.outcome,
        plan=as_json(session.plan),
        machine=as_json(session.machine),
        telemetry=None if session.telemetry is None else as_json(session.telemetry),
        run_mark=None if session.run_mark is None else as_json(session.run_mark),
        others=msgspec.json.encode(session.others).decode() if session.others else None,
    )
    connection.execute(_SESSION, {**parameters(record), "writer": writer})
    connection.executemany(_POINT, map(parameters, map(_pending, session.points)))


def _pending(state: PointState) -> PointRecord:
    return PointRecord(
        point=state.point.index,
        kernel=state.point.kernel,
        problem=as_json(state.point.problem),
        predicted_bytes=state.predicted_bytes,
        status=state.status,
        reason=state.reason,
        detail=state.detail,
        started_ns=state.started_ns,
        sampling_ns=state.sampling_ns,
        ended_ns=state.ended_ns,
    )


def write_event(connection: sqlite3.Connection, event: Event) -> None:
    """Write one event; those a file does not keep change nothing."""
    match event:
        case PointStarted():
            _start_point(connection, event)
        case PointChecked(index=index, measurement=measurement):
            _write_measurement(connection, index, measurement)
        case SamplingStarted():
            _begin_sampling(connection, event)
        case PointMeasured() | PointFailed():
            _end_point(connection, event)
        case Readings(readings=readings, device=device):
            _check_room(connection, "readings", MAX_ROWS - len(readings))
            records = (parameters(ReadingRecord.of(reading, device)) for reading in readings)
            connection.executemany(_READING, records)
        case CeilingsMeasured(ceilings=ceilings):
            connection.execute(_CEILINGS, (as_json(ceilings),))
        case TelemetryStarted():
            connection.execute("UPDATE session SET telemetry = ?", (as_json(event),))
        case (
            TraceReady(trace=value)
            | TimelineReady(timeline=value)
            | StallsReady(profile=value)
            | LandscapeReady(landscape=value)
            | AuditReady(audit=value)
            | BackwardTraceReady(trace=value)
            | RanksReady(result=value)
        ):
            _write_recorded(connection, value)
        case PlanFinished(t_ns=t_ns, outcome=outcome):
            connection.execute("UPDATE session SET outcome = ?, ended_ns = ?", (outcome, t_ns))
        case _:
            pass


def _start_point(connection: sqlite3.Connection, event: PointStarted) -> None:
    """Begin a point's measurement; what an earlier part had of it is over with that."""
    for table in _MEASURED:
        connection.execute(f"DELETE FROM {table} WHERE point = ?", (event.index,))  # noqa: S608 - our names
    connection.execute(_START, (event.t_ns, event.index))
    if event.device:
        record = PointDeviceRecord(point=event.index, device=event.device)
        connection.execute(_POINT_DEVICE, parameters(record))


def _end_point(connection: sqlite3.Connection, event: PointMeasured | PointFailed) -> None:
    if isinstance(event, PointMeasured):
        status: PointStatus = "done"
        reason = detail = ""
        _write_samples(connection, event.index, event.samples)
        _write_figures(connection, event.index, event.figures)
        _write_traffic(connection, event.index, event.traffic)
    else:
        status, reason, detail = event.status, event.reason, event.detail
        if event.measurement is not None:
            _write_measurement(connection, event.index, event.measurement)
    connection.execute(
        "UPDATE points SET status = ?, reason = ?, detail = ?, ended_ns = ? WHERE point = ?",
        (status, cut_text(reason), cut_text(detail), event.t_ns, event.index),
    )
    seal(connection, event.index)


def _begin_sampling(connection: sqlite3.Connection, event: SamplingStarted) -> None:
    moments = ((event.t_ns, index) for index in event.indices)
    connection.executemany("UPDATE points SET sampling_ns = ? WHERE point = ?", moments)
    for index in event.indices if event.remark else ():
        _add_remark(connection, index, event.remark)


def _add_remark(connection: sqlite3.Connection, point: int, remark: str) -> None:
    found = connection.execute("SELECT note FROM measurements WHERE point = ?", (point,)).fetchone()
    if found is not None:
        note = cut_text(joined_notes(*found, remark))
        connection.execute("UPDATE measurements SET note = ? WHERE point = ?", (note, point))


def _write_recorded(connection: sqlite3.Connection, value: Keepable) -> None:
    """Write what is one value, such as a trace."""
    place = PLACES[type(value)]
    _check_room(connection, place.table, place.most - 1)
    blob = packed(value)
    if len(blob) > MAX_VALUE_BYTES:
        size, most = (nbytes >> 20 for nbytes in (len(blob), MAX_VALUE_BYTES))
        raise TooLargeError(f"the {place.noun}: it takes {size} MiB where at most {most} MiB are kept")
    if not room_for(connection, blob):
        raise TooLargeError(f"more {place.noun}s: they take too much memory")
    connection.execute(f"INSERT INTO {place.table} ({place.column}) VALUES (?)", (blob,))  # noqa: S608 - our names


def _check_room(connection: sqlite3.Connection, table: str, most: int) -> None:
    """Refuse to add what would make the file one that is not opened."""
    (held,) = connection.execute(f"SELECT max(n) FROM {table}").fetchone()  # noqa: S608 - one of our tables
    if (held or 0) > most:
        raise TooLargeError(f"more {table.replace('_', ' ')}: it has {held}")


def _write_measurement(connection: sqlite3.Connection, point: int, measured: Measurement) -> None:
    record = MeasurementRecord(
        point=point, timer=measured.timer, cold=flag(measured.cold), note=measured.note
    )
    connection.execute(_MEASUREMENT, parameters(record))
    _write_figures(connection, point, measured.figures)
    if measured.correctness is not None:
        _write_correctness(connection, point, measured.correctness)
    _write_samples(connection, point, measured.samples)
    _write_traffic(connection, point, measured.traffic)


def _write_figures(connection: sqlite3.Connection, point: int, figures: Mapping[str, Figure]) -> None:
    records = (parameters(FigureRecord.of(point, key, figure)) for key, figure in figures.items())
    connection.executemany(_FIGURE, records)


def _write_correctness(connection: sqlite3.Connection, point: int, correctness: Correctness) -> None:
    whole = CorrectnessRecord(point=point, rows_compared=correctness.rows, passed=flag(correctness.passed))
    connection.execute(_CORRECTNESS, parameters(whole))
    errors = (ErrorRecord.of(point, n, one) for n, one in enumerate(correctness.outputs))
    connection.executemany(_ERROR, map(parameters, errors))


def _write_samples(connection: sqlite3.Connection, point: int, samples: Sequence[Sample]) -> None:
    records = (parameters(SampleRecord.of(point, n, sample)) for n, sample in enumerate(samples))
    connection.executemany(_SAMPLE, records)


def _write_traffic(connection: sqlite3.Connection, point: int, traffic: Traffic | None) -> None:
    """Write a point's curve; one that no file can hold is left out: the rest is worth more."""
    record = None if traffic is None else TrafficRecord.of(point, traffic)
    if record is not None and len(record.curve) <= MAX_TRAFFIC:
        connection.execute(_TRAFFIC, parameters(record))
