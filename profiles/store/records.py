"""Between events and rows: every row read is validated, every figure keeps what it means.

NULL is "not available". SQLite turns NaN into NULL, so NaN is stored as the text 'NaN'. How long a text may
be is declared here once: a longer one is refused when it is read, and cut, with a mark, when it is written.
"""

import math
from typing import Annotated, Literal

import msgspec

from flashscope.profiles.store.schema import MAX_DEVICES, MAX_JSON, MAX_NOTE, MAX_TEXT, MAX_TRAFFIC
from flashscope.profiles.wire.events import Outcome, PointStatus, Reading
from flashscope.profiles.wire.measurement import Figure, Number, OutputError, Sample
from flashscope.profiles.wire.traffic import Traffic

Real = float | Literal["NaN"]
Flag = Literal[0, 1]
Bytes = Annotated[int, msgspec.Meta(ge=0)]
RecordText = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
ShortText = Annotated[str, msgspec.Meta(max_length=MAX_NOTE)]
RecordKey = Annotated[str, msgspec.Meta(max_length=200)]
LaterDevice = Annotated[int, msgspec.Meta(ge=1, lt=MAX_DEVICES)]
Json = Annotated[str, msgspec.Meta(max_length=MAX_JSON)]


class Record(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, array_like=True, gc=False
):
    """A row of a table: its columns in their order."""


class SessionRecord(Record, frozen=True, kw_only=True):
    """The row of `session`, without the name of its writer."""

    id: Annotated[str, msgspec.Meta(max_length=64)]
    name: ShortText
    note: ShortText
    started_at: Annotated[str, msgspec.Meta(max_length=64)]
    t0_ns: int
    ended_ns: int | None
    outcome: Outcome | None
    plan: Json
    machine: Json
    telemetry: Json | None
    tags: Json = "[]"
    bookmarks: Json = "[]"
    run_mark: ShortText | None = None
    others: Json | None = None


class OfPoint(Record, frozen=True, kw_only=True):
    """A row that says something of a point."""

    point: Annotated[int, msgspec.Meta(ge=0)]


class PointRecord(OfPoint, frozen=True, kw_only=True):
    """A row of `points`."""

    kernel: RecordText
    problem: Json
    predicted_bytes: Bytes
    status: PointStatus
    reason: RecordText
    detail: RecordText
    started_ns: int | None
    sampling_ns: int | None
    ended_ns: int | None
    digest: RecordKey | None = None


class PointDeviceRecord(OfPoint, frozen=True, kw_only=True):
    """A row of `point_devices`: on which device but the first a point was measured."""

    device: LaterDevice


class MeasurementRecord(OfPoint, frozen=True, kw_only=True):
    """A row of `measurements`: what is said of a measurement as a whole."""

    timer: RecordText
    cold: Flag
    note: RecordText


class FigureRecord(OfPoint, frozen=True, kw_only=True):
    """A row of `figures`; the key may be one that this version does not know."""

    key: RecordKey
    value: int | Real | None
    low: int | Real | None
    high: int | Real | None
    source: RecordText
    missing: RecordText

    @classmethod
    def of(cls, point: int, key: str, of_point: Figure) -> "FigureRecord":
        """The row of one figure."""
        value, low, high = map(sql_number, (of_point.value, of_point.low, of_point.high))
        return cls(
            point=point,
            key=key,
            value=value,
            low=low,
            high=high,
            source=of_point.source,
            missing=of_point.missing,
        )

    def figure(self) -> Figure:
        """The figure again."""
        value, low, high = (float(x) if isinstance(x, str) else x for x in (self.value, self.low, self.high))
        return Figure(value=value, low=low, high=high, source=self.source, missing=self.missing)


class CorrectnessRecord(OfPoint, frozen=True, kw_only=True):
    """A row of `correctness`."""

    rows_compared: Annotated[int, msgspec.Meta(ge=0)]
    passed: Flag


class ErrorRecord(OfPoint, frozen=True, kw_only=True):
    """A row of `errors`: one output of a kernel beside the oracle's."""

    n: int
    output: RecordKey
    error: Real
    bound: Real
    place_sequence: int | None
    place_head: int | None
    place_row: int | None

    @classmethod
    def of(cls, point: int, n: int, one: OutputError) -> "ErrorRecord":
        """The row of one error."""
        sequence, head, row = one.place or (None, None, None)
        return cls(
            point=point,
            n=n,
            output=one.output,
            error=real(one.error),
            bound=real(one.bound),
            place_sequence=sequence,
            place_head=head,
            place_row=row,
        )

    def output_error(self) -> OutputError:
        """The error again."""
        place = self.place_sequence, self.place_head, self.place_row
        sequence, head, row = place
        known = None if sequence is None or head is None or row is None else (sequence, head, row)
        return OutputError(output=self.output, error=float(self.error), bound=float(self.bound), place=known)


class SampleRecord(OfPoint, frozen=True, kw_only=True):
    """A row of `samples`."""

    n: int
    ms: Real
    rejected: RecordText | None
    round: Annotated[int, msgspec.Meta(ge=0)] | None
    t_ns: int | None
    sm_clock_mhz: Real | None

    @classmethod
    def of(cls, point: int, n: int, sample: Sample) -> "SampleRecord":
        """The row of one sample, the n-th of its point."""
        return cls(
            point=point,
            n=n,
            ms=real(sample.ms),
            rejected=sample.rejected,
            round=sample.round,
            t_ns=sample.t_ns,
            sm_clock_mhz=stored(sample.sm_clock_mhz),
        )

    def sample(self) -> Sample:
        """The sample again."""
        return Sample(float(self.ms), self.rejected, self.round, self.t_ns, figure(self.sm_clock_mhz))


class TrafficRecord(OfPoint, frozen=True, kw_only=True):
    """A row of `traffic`: the curve as JSON."""

    curve: Annotated[str, msgspec.Meta(max_length=MAX_TRAFFIC)]

    @classmethod
    def of(cls, point: int, traffic: Traffic) -> "TrafficRecord":
        """The row of a point's curve."""
        return cls(point=point, curve=msgspec.json.encode(traffic).decode())

    def traffic(self) -> Traffic:
        """The curve again."""
        return msgspec.json.decode(self.curve, type=Traffic)


class ReadingRecord(Record, frozen=True, kw_only=True):
    """A row of `readings`; `throttle` is a JSON list, `device` one but the first."""

    t_ns: int
    memory_used: int | None
    utilisation: Real | None
    power_w: Real | None
    temperature_c: Real | None
    sm_clock_mhz: Real | None
    memory_clock_mhz: Real | None
    throttle: Json | None
    sm_share: Real | None
    tensor_share: Real | None
    dram_share: Real | None
    device: LaterDevice | None

    @classmethod
    def of(cls, reading: Reading, device: int) -> "ReadingRecord":
        """The row of one reading of a device."""
        return cls(
            t_ns=reading.t_ns,
            memory_used=reading.memory_used,
            utilisation=stored(reading.utilisation),
            power_w=stored(reading.power_w),
            temperature_c=stored(reading.temperature_c),
            sm_clock_mhz=stored(reading.sm_clock_mhz),
            memory_clock_mhz=stored(reading.memory_clock_mhz),
            throttle=None if reading.throttle is None else msgspec.json.encode(reading.throttle).decode(),
            sm_share=stored(reading.sm_share),
            tensor_share=stored(reading.tensor_share),
            dram_share=stored(reading.dram_share),
            device=device or None,
        )

    def reading(self) -> Reading:
        """The reading again."""
        return Reading(
            t_ns=self.t_ns,
            memory_used=self.memory_used,
            utilisation=figure(self.utilisation),
            power_w=figure(self.power_w),
            temperature_c=figure(self.temperature_c),
            sm_clock_mhz=figure(self.sm_clock_mhz),
            memory_clock_mhz=figure(self.memory_clock_mhz),
            throttle=None if self.throttle is None else decode_throttle(self.throttle),
            sm_share=figure(self.sm_share),
            tensor_share=figure(self.tensor_share),
            dram_share=figure(self.dram_share),
        )


decode_throttle = msgspec.json.Decoder(tuple[str, ...]).decode


def real(value: float) -> Real:
    """A figure as SQLite can hold it."""
    return "NaN" if math.isnan(value) else float(value)


def stored(value: float | None) -> Real | None:
    """A figure, or that there is none, as SQLite can hold it."""
    return None if value is None else real(value)


def sql_number(value: Number | None) -> int | Real | None:
    """A number as SQLite can hold it; whole ones stay whole."""
    return value if isinstance(value, int) else stored(value)


def figure(value: Real | None) -> float | None:
    """A figure, or that there is none, as it was before it was stored."""
    return None if value is None else float(value)


def flag(value: bool) -> Flag:
    """A boolean as SQLite can hold it."""
    return 1 if value else 0
