"""The points of a session file; one whose rows cannot be what was written is `altered`, without figures."""

import sqlite3
from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain, repeat
from typing import TypeVar

import msgspec

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Point
from flashscope.profiles.results.model.session import UNFINISHED, PointState
from flashscope.profiles.store.digest import NO_DIGEST, ORDERS, Digests
from flashscope.profiles.store.parts import points_of
from flashscope.profiles.store.records import (
    CorrectnessRecord,
    ErrorRecord,
    FigureRecord,
    MeasurementRecord,
    OfPoint,
    PointDeviceRecord,
    PointRecord,
    SampleRecord,
    TrafficRecord,
)
from flashscope.profiles.store.statements import records
from flashscope.profiles.wire.events import PlanResumed
from flashscope.profiles.wire.measurement import Correctness, Measurement

LEAST_MS, MOST_MS = 1e-9, 1e15  # of a sample: from light's way of 0.3 mm to 30,000 years
P = TypeVar("P", bound=OfPoint)
ALTERED = "Its rows in the file are not those that were measured ({}); run the sweep again to measure it."


def read_points(connection: sqlite3.Connection, plan: Plan, parts: Sequence[PlanResumed]) -> list[PointState]:
    """Every point of a session, in running order, and what its later parts repeated.

    Raises:
        ValueError: The file has other points than its plan, or a value that no session holds.
    """
    digests = Digests()
    found = _by_point(connection, "points", PointRecord, digests)
    measured = _measurements(connection, digests)
    if not measured.keys() <= found.keys():
        raise ValueError("a measurement of no point")
    devices = _devices(connection, digests)
    states = [_state(one, measured.get(point), digests) for point, (one, *_) in found.items()]
    for state in states:
        state.device = devices.get(state.point.index, 0)
    if [state.point for state in states] != points_of(plan, parts):
        raise ValueError("points other than those of its plan")
    begun = [part.t_ns for part in parts]
    if begun != sorted(begun):
        raise ValueError("parts that do not follow one another")
    repeated = [part.part for part in parts for _ in part.repeats]
    least = chain(repeat(1, len(states) - len(repeated)), repeated)
    for state, earliest in zip(states, least, strict=True):
        state.part = None if state.started_ns is None else bisect_right(begun, state.started_ns) + 1
        if state.part is not None and state.part < earliest:
            raise ValueError(f"a repeat that was measured before part {earliest} began")
    return states


def read_some_points(connection: sqlite3.Connection, plan: Plan, wanted: Sequence[int]) -> list[PointState]:
    """Some points of a session, by their indices, without reading the others.

    Raises:
        ValueError: As `read_points`.
    """
    digests = Digests()
    found = _by_point(connection, "points", PointRecord, digests, wanted)
    measured = _measurements(connection, digests, wanted)
    _devices(connection, digests, wanted)
    planned = plan.points()
    states = [_state(one, measured.get(point), digests) for point, (one, *_) in found.items()]
    if [state.point for state in states] != [planned[index] for index in sorted(wanted)]:
        raise ValueError("points other than those of its plan")
    return states


def _devices(
    connection: sqlite3.Connection, digests: Digests, wanted: Sequence[int] | None = None
) -> dict[int, int]:
    """The device of each point that was not measured on the first; read after the measurements."""
    found = _by_point(connection, "point_devices", PointDeviceRecord, digests, wanted)
    return {point: one.device for point, (one, *_) in found.items()}


def _measurements(
    connection: sqlite3.Connection, digests: Digests, wanted: Sequence[int] | None = None
) -> dict[int, Measurement]:
    """Every measurement by its point; the tables are read in the order in which they are digested."""
    heads = _by_point(connection, "measurements", MeasurementRecord, digests, wanted)
    figures = _by_point(connection, "figures", FigureRecord, digests, wanted)
    verdicts = _by_point(connection, "correctness", CorrectnessRecord, digests, wanted)
    errors = _by_point(connection, "errors", ErrorRecord, digests, wanted)
    samples = _by_point(connection, "samples", SampleRecord, digests, wanted)
    curves = _by_point(connection, "traffic", TrafficRecord, digests, wanted)
    return {
        point: Measurement(
            timer=head.timer,
            cold=bool(head.cold),
            figures={one.key: one.figure() for one in figures.get(point, ())},
            correctness=_correctness(verdicts.get(point, ()), errors.get(point, ())),
            samples=tuple(one.sample() for one in samples.get(point, ())),
            note=head.note,
            traffic=next((one.traffic() for one in curves.get(point, ())), None),
        )
        for point, (head, *_) in heads.items()
    }


def _correctness(verdicts: Sequence[CorrectnessRecord], errors: Sequence[ErrorRecord]) -> Correctness | None:
    """The comparison with the oracle, None when there was none."""
    for verdict in verdicts:
        outputs = tuple(one.output_error() for one in errors)
        return Correctness(outputs=outputs, rows=verdict.rows_compared, passed=bool(verdict.passed))
    return None


def _by_point(
    connection: sqlite3.Connection,
    table: str,
    kind: type[P],
    digests: Digests,
    wanted: Sequence[int] | None = None,
) -> dict[int, list[P]]:
    """The records of each point, or of each that is wanted, in their order."""
    found: dict[int, list[P]] = {}
    some = "" if wanted is None else f"WHERE point IN ({', '.join(map(str, wanted))}) "
    for record in records(connection, kind, f"{table} {some}ORDER BY {ORDERS[table]}", digests):
        found.setdefault(record.point, []).append(record)
    return found


def _state(record: PointRecord, measurement: Measurement | None, digests: Digests) -> PointState:
    problem = msgspec.json.decode(record.problem, type=Problem)
    state = PointState(
        point=Point(index=record.point, kernel=record.kernel, problem=problem),
        predicted_bytes=record.predicted_bytes,
        status=record.status,
        reason=record.reason,
        detail=record.detail,
        started_ns=record.started_ns,
        sampling_ns=record.sampling_ns,
        ended_ns=record.ended_ns,
        measurement=measurement,
        altered=None if record.digest == NO_DIGEST else False,
    )
    wrong = _contradiction(state) or _difference(record, digests)
    if wrong:
        state.status, state.reason = "altered", ALTERED.format(wrong)
        state.measurement, state.altered = None, True
    return state


def _difference(record: PointRecord, digests: Digests) -> str:
    """How a point's rows differ from those that were digested; empty when they do not, or nobody knows."""
    if record.digest == NO_DIGEST or (record.digest is None and record.status in UNFINISHED):
        return ""
    if record.digest is None:
        return "their digest is missing"
    return "" if record.digest == digests.of(record.point) else "their digest is another"


def _contradiction(state: PointState) -> str:
    """What a point says that cannot all be true; empty when there is nothing of the kind."""
    measured = state.measurement
    samples = measured.samples if measured else ()
    if not all(LEAST_MS <= sample.ms <= MOST_MS for sample in samples):
        return "a sample took no possible time"
    correctness = measured.correctness if measured else None
    if correctness and any(one.error < 0 or one.bound < 0 for one in correctness.outputs):
        return "an error is below 0"
    if state.status != "done":
        return ""
    if not samples:
        return "it is done, but has no samples"
    if correctness and not (correctness.passed and all(one.passed for one in correctness.outputs)):
        return "it is done, but its output is wrong"
    return ""
