"""Writing a session's plan and events into its tables."""

import sqlite3

import msgspec

from profiles.events import (
    Event,
    Measurement,
    PlanFinished,
    PointFailed,
    PointMeasured,
    PointStarted,
    PointStatus,
    Readings,
    SamplingStarted,
    TelemetryStarted,
    TraceReady,
)
from profiles.session import Session
from profiles.store.records import (
    CorrectnessRecord,
    MeasurementRecord,
    PointRecord,
    ReadingRecord,
    SampleRecord,
    insert,
    parameters,
    real,
)

_POINT = insert("points", PointRecord)
_MEASUREMENT = insert("measurements", MeasurementRecord)
_CORRECTNESS = insert("correctness", CorrectnessRecord)
_SAMPLE = insert("samples", SampleRecord)
_READING = insert("readings", ReadingRecord)


def as_json(value: msgspec.Struct | None) -> str | None:
    """A struct as JSON text; None stays None."""
    return None if value is None else msgspec.json.encode(value).decode()


def write_session(connection: sqlite3.Connection, session: Session, writer: str) -> None:
    """Write the session's row and its points as they stand before the first of them starts."""
    connection.execute(
        "INSERT INTO session (key, id, name, note, started_at, t0_ns, plan, machine, telemetry, writer)"
        " VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session.id,
            session.name,
            session.note,
            session.started_at,
            session.t0_ns,
            as_json(session.plan),
            as_json(session.machine),
            as_json(session.telemetry),
            writer,
        ),
    )
    for state in session.points:
        record = PointRecord(
            point=state.point.index,
            kernel=state.point.kernel,
            problem=as_json(state.point.problem) or "",
            predicted_bytes=state.predicted_bytes,
            status=state.status,
            reason=state.reason,
            detail=state.detail,
            started_ns=state.started_ns,
            sampling_ns=state.sampling_ns,
            ended_ns=state.ended_ns,
        )
        connection.execute(_POINT, parameters(record))


def write_event(connection: sqlite3.Connection, event: Event) -> None:
    """Write one event; those a file does not keep change nothing."""
    match event:
        case PointStarted(index=index, t_ns=t_ns):
            connection.execute(
                "UPDATE points SET status = 'running', started_ns = ? WHERE point = ?", (t_ns, index)
            )
        case SamplingStarted(indices=indices, t_ns=t_ns):
            moments = ((t_ns, index) for index in indices)
            connection.executemany("UPDATE points SET sampling_ns = ? WHERE point = ?", moments)
        case PointMeasured():
            _end_point(connection, event, "done", "", "")
        case PointFailed():
            _end_point(connection, event, event.status, event.reason, event.detail)
        case Readings(readings=readings):
            records = (parameters(ReadingRecord.of(reading)) for reading in readings)
            connection.executemany(_READING, records)
        case TelemetryStarted():
            connection.execute("UPDATE session SET telemetry = ?", (as_json(event),))
        case TraceReady(trace=trace):
            connection.execute("INSERT INTO traces (trace) VALUES (?)", (msgspec.msgpack.encode(trace),))
        case PlanFinished(t_ns=t_ns, outcome=outcome):
            connection.execute("UPDATE session SET outcome = ?, ended_ns = ?", (outcome, t_ns))
        case _:
            pass


def _end_point(
    connection: sqlite3.Connection,
    event: PointMeasured | PointFailed,
    status: PointStatus,
    reason: str,
    detail: str,
) -> None:
    connection.execute(
        "UPDATE points SET status = ?, reason = ?, detail = ?, ended_ns = ? WHERE point = ?",
        (status, reason, detail, event.t_ns, event.index),
    )
    if event.measurement is not None:
        _write_measurement(connection, event.index, event.measurement)


def _write_measurement(connection: sqlite3.Connection, point: int, measured: Measurement) -> None:
    connection.execute(_MEASUREMENT, parameters(MeasurementRecord.of(point, measured)))
    if measured.correctness is not None:
        correctness = CorrectnessRecord.of(point, measured.correctness)
        connection.execute(_CORRECTNESS, parameters(correctness))
    samples = (
        SampleRecord(point=point, n=n, ms=real(sample.ms), rejected=sample.rejected, round=sample.round)
        for n, sample in enumerate(measured.samples)
    )
    connection.executemany(_SAMPLE, (parameters(sample) for sample in samples))
