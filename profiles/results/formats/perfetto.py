"""A session as a trace for ui.perfetto.dev, in the Trace Event Format of Chrome.

Format: "Trace Event Format", Google, docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from flashscope.profiles.plan.problem_words import place_words
from flashscope.profiles.results.formats.export import metadata, rows_with_baselines
from flashscope.profiles.results.formats.perfetto_timeline import slices_of
from flashscope.profiles.results.model.activity import Activity, activities
from flashscope.profiles.results.model.curves import curve_of
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.events import Reading

BESIDE = 1_000  # the process of device 0, were it one of those beside the first
KERNELS, DEVICE = (
    1,
    2,
)  # processes of the trace: a track for each kernel, a counter for each field of a Reading
COUNTERS = {
    "memory_used": "memory used, bytes",
    "utilisation": "busy, %",
    "power_w": "power, W",
    "temperature_c": "temperature, °C",
    "sm_clock_mhz": "SM clock, MHz",
    "memory_clock_mhz": "memory clock, MHz",
    "sm_share": "SMs busy, share",
    "tensor_share": "tensor cores busy, share",
    "dram_share": "DRAM bandwidth, share",
}
Slice = dict[str, Any]
FiguresByTime = dict[int, dict[str, float]]


def to_perfetto(session: Session, provenance: str = "") -> bytes:
    """One JSON document: points and their timed runs as slices, telemetry as counters; µs from the start.

    A run is placed where the host saw it end; those of recordings that do not tell when are left out. Each
    timeline is a process of its own, in µs since its run began.
    `provenance`: where the figures come from in words, as `to_json` has it.
    """
    encode = msgspec.json.Encoder().encode
    told = metadata(session) | {"provenance": provenance}
    about = encode({name: str(value) for name, value in told.items()})
    events = b",\n".join(map(encode, _events(session)))
    return b'{"displayTimeUnit":"ms","otherData":%b,"traceEvents":[\n%b\n]}\n' % (about, events)


def _events(session: Session) -> Iterator[Slice]:
    device = session.machine.device(session.backend)
    name = device.name if device else session.backend
    tracks = {kernel: number for number, kernel in enumerate(session.plan.kernels, 1)}
    yield _named("process_name", KERNELS, 0, f"Kernels on {name}")
    yield from (_named("thread_name", KERNELS, number, kernel) for kernel, number in tracks.items())
    if session.readings:
        watched = session.telemetry.device if session.telemetry else name
        yield _named("process_name", DEVICE, 0, f"Telemetry of {watched}")
    beside = {number: BESIDE + number for number in session.beside}
    for number, process in beside.items():
        yield _named("process_name", process, 0, f"Telemetry of device {number}")
    figures = {row.point.index: _figures(row, baseline) for row, baseline in rows_with_baselines(session)}
    for stretch in activities(session):
        for state in stretch.states:
            place = {"pid": KERNELS, "tid": tracks[state.point.kernel]}
            yield from (one | place for one in _point(session, stretch, state, figures))
    yield from _counters(session, session.readings, DEVICE)
    for number, process in beside.items():
        yield from _counters(session, session.beside[number], process)
    for number, timeline in enumerate(session.timelines, DEVICE + 1):
        yield from slices_of(timeline, number)


def _named(what: str, process: int, thread: int, name: str) -> Slice:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _figures(row: PointRow, baseline: PointRow | None) -> dict[str, float]:
    """The main figures that there are of a point, by the names of their columns."""
    main = (quantity for quantity in QUANTITIES.values() if not quantity.detail)
    values = ((quantity.names[0], value_of(quantity, row, baseline)) for quantity in main)
    return {name: value for name, value in values if value is not None}


def _point(session: Session, stretch: Activity, state: PointState, figures: FiguresByTime) -> Iterator[Slice]:
    """What a kernel was at in this stretch, and its timed runs inside it; without an end it only begins."""
    point, sampled = state.point, state.sampling_ns == stretch.start_ns
    row = PointRow.of(session.backend, state, session)
    yield {
        "name": f"{point.kernel} {place_words(point.problem)}",
        "cat": "sampling" if sampled or stretch.start_ns in state.broken_off_ns else "check",
        **_span(session, stretch.start_ns, stretch.end_ns),
        "args": {
            "problem": curve_of(row).label,
            "heads": point.problem.heads,
            "batch": point.problem.batch,
            "status": state.status,
            "reason": state.reason,
            **_trust(row),
            **_place(session, state),
            **(figures.get(point.index, {}) if sampled else {}),
        },
    }
    if sampled and stretch.end_ns is not None:
        yield from _runs(session, stretch.start_ns, stretch.end_ns, row)


def _trust(row: PointRow) -> dict[str, object]:
    known = row.trust
    return {"trust": known.word, "trust_reasons": "; ".join(known.reasons)} if known else {}


def _place(session: Session, state: PointState) -> dict[str, object]:
    """Why it was measured once more, if it was, and in which part of a session that has several."""
    index, told = state.point.index, dict[str, object]()
    if index >= session.plan.cells:
        told["drift_check" if index < len(session.planned) else "part_check"] = True
    told |= {"measured_on": state.device} if session.beside else {}
    return told | {"part": state.part} if session.resumed else told


def _runs(session: Session, start_ns: int, end_ns: int, row: PointRow) -> Iterator[Slice]:
    for sample in row.measurement.samples if row.measurement else ():
        if sample.t_ns is None or not start_ns <= sample.t_ns - sample.ms * 1e6 <= sample.t_ns <= end_ns:
            continue
        told = {"round": sample.round, "rejected": sample.rejected, "sm_clock_mhz": sample.sm_clock_mhz}
        yield {
            "name": row.kernel,
            "cat": "run",
            **_span(session, sample.t_ns - round(sample.ms * 1e6), sample.t_ns),
            "args": {"ms": sample.ms} | {name: value for name, value in told.items() if value is not None},
        }


def _span(session: Session, start_ns: int, end_ns: int | None) -> Slice:
    begun = {"ts": (start_ns - session.t0_ns) / 1e3}
    if end_ns is None:
        return {"ph": "B", **begun}
    return {"ph": "X", **begun, "dur": max(end_ns - start_ns, 0) / 1e3}


def _counters(session: Session, readings: Sequence[Reading], process: int) -> Iterator[Slice]:
    for reading in readings:
        ts = (reading.t_ns - session.t0_ns) / 1e3
        for field, title in COUNTERS.items():
            value = getattr(reading, field)
            if value is not None and math.isfinite(value):
                yield {"ph": "C", "name": title, "pid": process, "ts": ts, "args": {"value": value}}
