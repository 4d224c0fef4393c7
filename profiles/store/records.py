"""Between events and rows: every row read is validated, every figure keeps what it means.

NULL is "not available". SQLite turns NaN into NULL, so NaN is stored as the text 'NaN'.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from profiles.events import Correctness, Footprint, Measurement, PointStatus, Reading, Sample

Real = float | Literal["NaN"]
Flag = Literal[0, 1]
Bytes = Annotated[int, msgspec.Meta(ge=0)]
Text = Annotated[str, msgspec.Meta(max_length=1_000_000)]
ProblemText = Annotated[str, msgspec.Meta(max_length=16 << 20)]  # a block mask takes 4/3 bytes a block


class PointRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of `points`."""

    point: Annotated[int, msgspec.Meta(ge=0)]
    kernel: Text
    problem: ProblemText
    predicted_bytes: Bytes
    status: PointStatus
    reason: Text
    detail: Text
    started_ns: int | None
    sampling_ns: int | None
    ended_ns: int | None


class MeasurementRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of `measurements`."""

    point: int
    timer: Text
    cold: Flag
    prepare_ms: Real | None
    first_run_ms: Real | None
    input_bytes: Bytes
    output_bytes: Bytes
    workspace_bytes: Bytes
    peak_bytes: Bytes | None
    peak_source: Text
    device_delta_bytes: int | None
    note: Text

    @classmethod
    def of(cls, point: int, measured: Measurement) -> "MeasurementRecord":
        """The row of one measurement."""
        ledger = measured.footprint
        return cls(
            point=point,
            timer=measured.timer,
            cold=flag(measured.cold),
            prepare_ms=stored(measured.prepare_ms),
            first_run_ms=stored(measured.first_run_ms),
            input_bytes=ledger.inputs,
            output_bytes=ledger.outputs,
            workspace_bytes=ledger.workspace,
            peak_bytes=ledger.peak,
            peak_source=ledger.source,
            device_delta_bytes=ledger.device_delta,
            note=measured.note,
        )

    def measurement(self, samples: tuple[Sample, ...], correctness: Correctness | None) -> Measurement:
        """The measurement again, with what other tables hold of it."""
        return Measurement(
            samples=samples,
            timer=self.timer,
            cold=bool(self.cold),
            prepare_ms=figure(self.prepare_ms),
            first_run_ms=figure(self.first_run_ms),
            footprint=Footprint(
                inputs=self.input_bytes,
                outputs=self.output_bytes,
                workspace=self.workspace_bytes,
                peak=self.peak_bytes,
                source=self.peak_source,
                device_delta=self.device_delta_bytes,
            ),
            correctness=correctness,
            note=self.note,
        )


class CorrectnessRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of `correctness`."""

    point: int
    max_abs_error: Real
    error_bound: Real
    lse_error: Real | None
    lse_bound: Real | None
    rows_compared: Annotated[int, msgspec.Meta(ge=0)]
    passed: Flag

    @classmethod
    def of(cls, point: int, found: Correctness) -> "CorrectnessRecord":
        """The row of one comparison."""
        return cls(
            point=point,
            max_abs_error=real(found.max_abs_error),
            error_bound=real(found.bound),
            lse_error=stored(found.lse_error),
            lse_bound=stored(found.lse_bound),
            rows_compared=found.rows,
            passed=flag(found.passed),
        )

    def correctness(self) -> Correctness:
        """The comparison again."""
        return Correctness(
            max_abs_error=float(self.max_abs_error),
            bound=float(self.error_bound),
            lse_error=figure(self.lse_error),
            lse_bound=figure(self.lse_bound),
            rows=self.rows_compared,
            passed=bool(self.passed),
        )


class SampleRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of `samples`."""

    point: int
    n: int
    ms: Real
    rejected: Text | None
    round: Annotated[int, msgspec.Meta(ge=0)] | None

    def sample(self) -> Sample:
        """The sample again."""
        return Sample(float(self.ms), self.rejected, self.round)


class ReadingRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of `readings`; `throttle` is a JSON list."""

    t_ns: int
    memory_used: int | None
    utilisation: Real | None
    power_w: Real | None
    temperature_c: Real | None
    sm_clock_mhz: Real | None
    memory_clock_mhz: Real | None
    throttle: Text | None

    @classmethod
    def of(cls, reading: Reading) -> "ReadingRecord":
        """The row of one reading."""
        return cls(
            t_ns=reading.t_ns,
            memory_used=reading.memory_used,
            utilisation=stored(reading.utilisation),
            power_w=stored(reading.power_w),
            temperature_c=stored(reading.temperature_c),
            sm_clock_mhz=stored(reading.sm_clock_mhz),
            memory_clock_mhz=stored(reading.memory_clock_mhz),
            throttle=None if reading.throttle is None else msgspec.json.encode(reading.throttle).decode(),
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
        )


decode_throttle = msgspec.json.Decoder(tuple[str, ...]).decode


def real(value: float) -> Real:
    """A figure as SQLite can hold it."""
    return "NaN" if math.isnan(value) else float(value)


def stored(value: float | None) -> Real | None:
    """A figure, or that there is none, as SQLite can hold it."""
    return None if value is None else real(value)


def figure(value: Real | None) -> float | None:
    """A figure, or that there is none, as it was before it was stored."""
    return None if value is None else float(value)


def flag(value: bool) -> Flag:
    """A boolean as SQLite can hold it."""
    return 1 if value else 0


def insert(table: str, record: type[msgspec.Struct]) -> str:
    """The statement that stores one record of that type, by named parameters."""
    names = record.__struct_fields__
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{n}' for n in names)})"  # noqa: S608 - our names


def select(record: type[msgspec.Struct], source: str) -> str:
    """The statement that reads records of that type from a table (and its ORDER BY)."""
    return f"SELECT {', '.join(record.__struct_fields__)} FROM {source}"  # noqa: S608 - our names


def parameters(record: msgspec.Struct) -> Mapping[str, Any]:
    """The named parameters of one record."""
    return msgspec.structs.asdict(record)
