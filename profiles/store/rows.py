"""Writing a session's plan and events into its tables."""

import sqlite3
from collections.abc import Mapping, Sequence

import msgspec

from profiles.results.session import Session
from profiles.store.records import (
    CorrectnessRecord,
    ErrorRecord,
    FigureRecord,
    MeasurementRecord,
    PointRecord,
    ReadingRecord,
    SampleRecord,
    flag,
    insert,
    parameters,
)
from profiles.wire.events import (
    Event,
    PlanFinished,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    PointStatus,
    Readings,
    SamplingStarted,
    TelemetryStarted,
    TraceReady,
)
from profiles.wire.measurement import SEPARATOR, Correctness, Figure, Measurement, Sample

_POINT = insert("points", PointRecord)
_MEASUREMENT = insert("measurements", MeasurementRecord)
_FIGURE = insert("figures", FigureRecord).replace("INSERT", "INSERT OR REPLACE", 1)  # the newest counts
_REMARK = "UPDATE measurements SET note = note || CASE note WHEN '' THEN '' ELSE ? END || ? WHERE point = ?"
_CORRECTNESS = insert("correctness", CorrectnessRecord)
_ERROR = insert("errors", ErrorRecord)
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
        case PointChecked(index=index, measurement=measurement):
            _write_measurement(connection, index, measurement)
        case SamplingStarted():
            _begin_sampling(connection, event)
        case PointMeasured() | PointFailed():
            _end_point(connection, event)
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


def _end_point(connection: sqlite3.Connection, event: PointMeasured | PointFailed) -> None:
    if isinstance(event, PointMeasured):
        end: tuple[PointStatus, str, str] = ("done", "", "")
        _write_samples(connection, event.index, event.samples)
        _write_figures(connection, event.index, event.figures)
    else:
        end = (event.status, event.reason, event.detail)
        if event.measurement is not None:
            _write_measurement(connection, event.index, event.measurement)
    connection.execute(
        "UPDATE points SET status = ?, reason = ?, detail = ?, ended_ns = ? WHERE point = ?",
        (*end, event.t_ns, event.index),
    )


def _begin_sampling(connection: sqlite3.Connection, event: SamplingStarted) -> None:
    moments = ((event.t_ns, index) for index in event.indices)
    connection.executemany("UPDATE points SET sampling_ns = ? WHERE point = ?", moments)
    if event.remark:
        remarks = ((SEPARATOR, event.remark, index) for index in event.indices)
        connection.executemany(_REMARK, remarks)


def _write_measurement(connection: sqlite3.Connection, point: int, measured: Measurement) -> None:
    record = MeasurementRecord(
        point=point, timer=measured.timer, cold=flag(measured.cold), note=measured.note
    )
    connection.execute(_MEASUREMENT, parameters(record))
    _write_figures(connection, point, measured.figures)
    if measured.correctness is not None:
        _write_correctness(connection, point, measured.correctness)
    _write_samples(connection, point, measured.samples)


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
