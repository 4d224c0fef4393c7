"""What an engine says: immutable, tagged messages. All of them cross processes as msgspec, never as pickle.

Times named `t_ns` are `time.monotonic_ns()` of the machine that measured: comparable between its processes.
"""

from typing import Literal

import msgspec

from kernels.trace import Trace
from profiles.machine import Machine
from profiles.plan import Plan

PointStatus = Literal[
    "pending",
    "running",
    "done",
    "wrong",  # the output failed the comparison with the oracle
    "oom",  # the allocator refused while it ran
    "will-not-fit",  # predicted bytes exceed what is free: not launched
    "unsupported",  # the kernel cannot run this problem on this device
    "timeout",  # killed at the deadline
    "failed",  # a fault: illegal address, compile error, dead worker, ...
    "cancelled",
    "interrupted",  # found `running` in the file of a session that was killed
]
FailedStatus = Literal["wrong", "oom", "will-not-fit", "unsupported", "timeout", "failed", "cancelled"]
Phase = Literal["prepare", "verify", "warm-up", "measure"]
Outcome = Literal["finished", "cancelled", "failed"]


class EventBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Base of every event."""


class Sample(msgspec.Struct, frozen=True):
    """One timed run.

    Attributes:
        ms: Milliseconds.
        rejected: Why it does not count, None when it does.
        round: In which round of the turns it was taken, from 0; None: its kernel was sampled alone.
    """

    ms: float
    rejected: str | None = None
    round: int | None = None


class Footprint(msgspec.Struct, frozen=True, kw_only=True):
    """The memory ledger of one point, in bytes.

    Attributes:
        inputs: Q, K and V.
        outputs: O and LSE.
        workspace: What the kernel holds beside them (S, P, m, ...).
        peak: The allocator's high-water mark over one run, None when it could not be read.
        source: What `peak` was read from.
        device_delta: Change of the whole device's used memory as NVML sees it, others included.
    """

    inputs: int
    outputs: int
    workspace: int
    peak: int | None
    source: str
    device_delta: int | None = None

    @property
    def total(self) -> int:
        """The headline: inputs + outputs + workspace."""
        return self.inputs + self.outputs + self.workspace


class Correctness(msgspec.Struct, frozen=True, kw_only=True):
    """Comparison with the float64 oracle.

    Attributes:
        max_abs_error: max |O - oracle| over the rows compared.
        bound: The largest error that passes (FlashAttention's criterion).
        lse_error: max |LSE - oracle's LSE|; None: the kernel returns no LSE.
        lse_bound: The largest LSE error that passes; None as above.
        rows: How many query rows were compared, of all `batch * heads * seqlen_q`.
        passed: Whether every error there is lies within its bound and nothing is NaN.
    """

    max_abs_error: float
    bound: float
    lse_error: float | None
    lse_bound: float | None
    rows: int
    passed: bool


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """What one point yielded.

    Attributes:
        samples: Every timed run, in order.
        timer: What timed it: `CUDA events`, `perf_counter`.
        cold: Whether the cache was flushed before each sample.
        prepare_ms: Compile and allocate, None when it was not timed.
        first_run_ms: The first launch.
        footprint: The memory ledger.
        correctness: None when it was not verified.
        note: What the kernel has to say of its run, such as what a library's dispatcher chose.
    """

    samples: tuple[Sample, ...]
    timer: str
    cold: bool
    prepare_ms: float | None
    first_run_ms: float | None
    footprint: Footprint
    correctness: Correctness | None
    note: str = ""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One telemetry sample. None: not supported here, `TelemetryStarted.missing` says why."""

    t_ns: int
    memory_used: int | None = None  # bytes, whole device
    utilisation: float | None = None  # percent of time ANY kernel ran, over the driver's own window
    power_w: float | None = None
    temperature_c: float | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    throttle: tuple[str, ...] | None = None  # reasons in force; empty: none


class MachineFound(EventBase, frozen=True, kw_only=True, tag="machine"):
    """The answer to a probe."""

    machine: Machine


class TelemetryStarted(EventBase, frozen=True, kw_only=True, tag="telemetry"):
    """A telemetry child watches a device now.

    Attributes:
        source: `psutil`, `NVML (memory v2)` or `NVML (memory v1, reserved included)`.
        device: Name of what is watched.
        memory_total: Capacity in bytes, None when unknown.
        power_limit_w: Enforced limit, None when unknown.
        missing: Reading's fields that are not available, with the reason.
    """

    source: str
    device: str
    memory_total: int | None
    power_limit_w: float | None = None
    missing: dict[str, str] = {}


class Readings(EventBase, frozen=True, kw_only=True, tag="readings"):
    """A batch of telemetry samples, oldest first."""

    readings: tuple[Reading, ...]


class PlanStarted(EventBase, frozen=True, kw_only=True, tag="plan-started"):
    """A sweep begins.

    Attributes:
        session_id: A fresh UUID, in hex.
        plan: What it will do.
        machine: Who measures.
        started_at: Wall clock, ISO 8601 with offset.
        t_ns: The same moment on the monotonic clock.
        predicted_bytes: Predicted footprint of each point, in running order.
    """

    session_id: str
    plan: Plan
    machine: Machine
    started_at: str
    t_ns: int
    predicted_bytes: tuple[int, ...]


class PointStarted(EventBase, frozen=True, kw_only=True, tag="point-started"):
    """A point is about to be prepared and launched."""

    index: int
    t_ns: int


class SamplingStarted(EventBase, frozen=True, kw_only=True, tag="sampling-started"):
    """Points that were checked are about to be sampled: one alone, or several in turns."""

    indices: tuple[int, ...]
    t_ns: int


class PointProgress(EventBase, frozen=True, kw_only=True, tag="point-progress"):
    """Where a point in flight is: `done` of `total` steps of its phase; `last_ms` is the newest sample."""

    index: int
    phase: Phase
    done: int = 0
    total: int = 0
    last_ms: float | None = None


class PointMeasured(EventBase, frozen=True, kw_only=True, tag="point-measured"):
    """A point ended well."""

    index: int
    t_ns: int
    measurement: Measurement


class PointFailed(EventBase, frozen=True, kw_only=True, tag="point-failed"):
    """A point ended otherwise.

    Attributes:
        status: How.
        reason: One sentence for the user: the cause and, where there is one, the remedy.
        detail: Compiler log, traceback or arithmetic, for the details view.
        measurement: What was measured before it failed (a `wrong` point keeps its numbers), or None.
    """

    index: int
    t_ns: int
    status: FailedStatus
    reason: str
    detail: str = ""
    measurement: Measurement | None = None


class PlanFinished(EventBase, frozen=True, kw_only=True, tag="plan-finished"):
    """The sweep ended; points never reached stay `pending` in a cancelled session."""

    t_ns: int
    outcome: Outcome
    reason: str = ""


class TraceReady(EventBase, frozen=True, kw_only=True, tag="trace"):
    """The answer to a trace request."""

    trace: Trace


class RequestFailed(EventBase, frozen=True, kw_only=True, tag="request-failed"):
    """A probe, watch or trace request could not be answered; same fields as a failed point's."""

    request: Literal["probe", "watch", "trace"]
    reason: str
    detail: str = ""


class LogLine(EventBase, frozen=True, kw_only=True, tag="log"):
    """One line a child printed or an engine has to tell."""

    source: str
    text: str
    level: Literal["debug", "info", "warning", "error"] = "info"


Event = (
    MachineFound
    | TelemetryStarted
    | Readings
    | PlanStarted
    | PointStarted
    | SamplingStarted
    | PointProgress
    | PointMeasured
    | PointFailed
    | PlanFinished
    | TraceReady
    | RequestFailed
    | LogLine
)

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Event).decode
