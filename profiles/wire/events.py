"""What an engine says: immutable, tagged messages. All of them cross processes as msgspec, never as pickle.

Times named `t_ns` are `time.monotonic_ns()` of the machine that measured: comparable between its processes.
"""

from typing import Annotated, Literal

import msgspec

from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.backward_trace import BackwardTrace
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.stalls import StallProfile
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.plan.machine import Gpu, Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.wire.ceilings import Ceilings
from flashscope.profiles.wire.event_base import EventBase
from flashscope.profiles.wire.live_events import LiveEnded, LiveStarted, LiveTiles
from flashscope.profiles.wire.measurement import Figure, Measurement, Sample
from flashscope.profiles.wire.ranks import RanksResult
from flashscope.profiles.wire.traffic import Traffic

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
    "impossible",  # done, in less time than its device can need for it
    "altered",  # its rows in a file are not those that were written
    "interrupted",  # found `running` in the file of a session that was killed
]
DeviceNumber = Annotated[int, msgspec.Meta(ge=0, lt=1000)]
"""Which of the devices that a sweep is shared among, see PlanStarted.others; 0 where there is one."""
BrokenOff = Literal["cancelled", "interrupted"]
FailedStatus = Literal["wrong", "oom", "will-not-fit", "unsupported", "timeout", "failed", BrokenOff]
"""How a point may end that is not done; `interrupted` where a recording is replayed, no engine says so."""
Phase = Literal["prepare", "verify", "warm-up", "measure", "sustain", "count"]
Outcome = Literal["finished", "cancelled", "failed"]


class Reading(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One telemetry sample. None: not supported here, `TelemetryStarted.missing` says why.

    There may be a million, and none can be a part of a circle: the garbage collector leaves them out.
    """

    t_ns: int
    memory_used: int | None = None  # bytes, whole device
    utilisation: float | None = None  # percent of time ANY kernel ran, over the driver's own window
    power_w: float | None = None
    temperature_c: float | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    throttle: tuple[str, ...] | None = None  # reasons in force; empty: none
    sm_share: float | None = None  # of the multiprocessors busy, 0 to 1, over the last 0.1 s or more (GPM)
    tensor_share: float | None = None  # of that time that the tensor cores worked, 0 to 1
    dram_share: float | None = None  # of the device memory's bandwidth used, 0 to 1


class MachineFound(EventBase, frozen=True, kw_only=True, tag="machine"):
    """The answer to a probe.

    Attributes:
        machine: What was looked at.
        gpus: All GPUs of the machine, of which `machine` has the one that is used.
        trusts_code: Whether kernels of the user's own may run there.
    """

    machine: Machine
    gpus: tuple[Gpu, ...] = ()
    trusts_code: bool = True


class TelemetryStarted(EventBase, frozen=True, kw_only=True, tag="telemetry"):
    """A telemetry child watches a device now.

    Attributes:
        source: `psutil`, `NVML (memory v2)` or `NVML (memory v1, reserved included)`.
        device: Name of what is watched.
        memory_total: Capacity in bytes, None when unknown.
        power_limit_w: Enforced limit, None when unknown.
        missing: Reading's fields that are not available, with the reason.
        others: What watches devices 1, 2 and so on, as in PlanStarted; None: nothing does yet.
    """

    source: str
    device: str
    memory_total: int | None
    power_limit_w: float | None = None
    missing: dict[str, str] = msgspec.field(default_factory=dict)
    others: tuple["TelemetryStarted | None", ...] = ()

    def of(self, device: DeviceNumber) -> "TelemetryStarted":
        """What watches a device; one of which that is not told is as the first."""
        return (self, *self.others)[device] or self if device <= len(self.others) else self


class Readings(EventBase, frozen=True, kw_only=True, tag="readings"):
    """A batch of telemetry samples of one device, oldest first."""

    readings: tuple[Reading, ...]
    device: DeviceNumber = 0


class PlanStarted(EventBase, frozen=True, kw_only=True, tag="plan-started"):
    """A sweep begins.

    Attributes:
        session_id: A fresh UUID, in hex.
        plan: What it will do.
        machine: Who measures.
        started_at: Wall clock, ISO 8601 with offset.
        t_ns: The same moment on the monotonic clock.
        predicted_bytes: Predicted footprint of each point, in running order.
        telemetry: What watches the device already, None: nothing does yet.
        run_mark: Which of several runs of the plan it is, None: it is alone.
        others: Who else measures, where the sweep is shared among several devices: `machine` is that of
            device 0, and these are those of devices 1, 2 and so on.
    """

    session_id: str
    plan: Plan
    machine: Machine
    started_at: str
    t_ns: int
    predicted_bytes: tuple[int, ...]
    telemetry: TelemetryStarted | None = None
    run_mark: RunMark | None = None
    others: tuple[Machine, ...] = ()


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """How a point ended, or did not, before it was measured anew; fields as a failed point's.

    Attributes:
        status: How; `running`: whoever measured it was killed.
        started_ns: When it had started.
        ended_ns: When it had ended, None where it had not.
    """

    index: int
    status: PointStatus
    reason: str
    detail: str
    started_ns: int | None
    ended_ns: int | None


class PlanResumed(EventBase, frozen=True, kw_only=True, tag="plan-resumed"):
    """A sweep that was broken off goes on: another part of its session begins.

    The session's clock stands still between two parts: times go on shortly after the last one before.

    Attributes:
        session_id: The session's UUID, in hex.
        part: Which part begins, from 2.
        machine: Who measures.
        started_at: Wall clock, ISO 8601 with offset.
        t_ns: The same moment on the session's clock.
        again: Points that had been started and are to be measured anew, as they stand until they start.
        repeats: Points that have an outcome and are measured once more at the begin of this part, to tell
            how far it differs from the parts before. These repeats follow the session's points in this order.
        outcome: How the part before ended, None: whoever measured was killed.
        telemetry: What watches the device already, None: nothing does yet.
        others: Who else measures in this part, as in PlanStarted.
    """

    session_id: str
    part: int
    machine: Machine
    started_at: str
    t_ns: int
    again: tuple[Attempt, ...] = ()
    repeats: tuple[int, ...] = ()
    outcome: Outcome | None = None
    telemetry: TelemetryStarted | None = None
    others: tuple[Machine, ...] = ()


class CeilingsMeasured(EventBase, frozen=True, kw_only=True, tag="ceilings"):
    """What the device reaches, measured before the first point of a part of a session."""

    ceilings: Ceilings


class PointStarted(EventBase, frozen=True, kw_only=True, tag="point-started"):
    """A point is about to be prepared and launched."""

    index: int
    t_ns: int
    device: DeviceNumber = 0


class PointChecked(EventBase, frozen=True, kw_only=True, tag="point-checked"):
    """A point is right and may be sampled.

    Attributes:
        measurement: What is known of it: everything but samples.
        free_bytes: Memory it could have now, once everything cached has been given back.
    """

    index: int
    t_ns: int
    measurement: Measurement
    free_bytes: int


class SamplingStarted(EventBase, frozen=True, kw_only=True, tag="sampling-started"):
    """Points that were checked are about to be sampled: one alone, or several in turns.

    Attributes:
        remark: Why they take no turns with the others of their problem; empty: they do, or are to be alone.
    """

    indices: tuple[int, ...]
    t_ns: int
    remark: str = ""


class PointProgress(EventBase, frozen=True, kw_only=True, tag="point-progress"):
    """Where a point in flight is: `done` of `total` steps of its phase; `last_ms` is the newest sample.

    Attributes:
        t_ns: When it was there; None: it was not told.
    """

    index: int
    phase: Phase
    done: int = 0
    total: int = 0
    last_ms: float | None = None
    t_ns: int | None = None


class PointMeasured(EventBase, frozen=True, kw_only=True, tag="point-measured"):
    """A point that was checked ended well.

    Attributes:
        samples: Every timed run, in order.
        figures: What was read while it was sampled, by the key of its quantity.
        traffic: The traffic of one run, None where none was counted.
    """

    index: int
    t_ns: int
    samples: tuple[Sample, ...]
    figures: dict[str, Figure] = msgspec.field(default_factory=dict)
    traffic: Traffic | None = None


class PointFailed(EventBase, frozen=True, kw_only=True, tag="point-failed"):
    """A point ended otherwise.

    Attributes:
        status: How.
        reason: One sentence for the user: the cause and, where there is one, the remedy.
        detail: Compiler log, traceback or arithmetic, for the details view.
        measurement: What the check of a `wrong` point found; None: nothing, or it was told with PointChecked.
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


class BackwardTraceReady(EventBase, frozen=True, kw_only=True, tag="backward-trace"):
    """The answer to a request for the trace of a backward pass."""

    trace: BackwardTrace


class TimelineProgress(EventBase, frozen=True, kw_only=True, tag="timeline-progress"):
    """A timeline is being recorded: `done` of `total` rounds."""

    done: int
    total: int


class TimelineReady(EventBase, frozen=True, kw_only=True, tag="timeline"):
    """The answer to a timeline request."""

    timeline: StageTimeline


class LandscapeReady(EventBase, frozen=True, kw_only=True, tag="landscape"):
    """Cuts of a kernel were timed side by side."""

    landscape: CutLandscape


class AuditReady(EventBase, frozen=True, kw_only=True, tag="audit"):
    """The attention of a model was recorded."""

    audit: ModelAudit


class RanksReady(EventBase, frozen=True, kw_only=True, tag="ranks"):
    """Attention was measured on several ranks."""

    result: RanksResult


class StallsProgress(EventBase, frozen=True, kw_only=True, tag="stalls-progress"):
    """Stalls are being sampled: `done` of `total` steps."""

    done: int
    total: int


class StallsReady(EventBase, frozen=True, kw_only=True, tag="stalls"):
    """The answer to a request of stalls."""

    profile: StallProfile


RequestKind = Literal["probe", "watch", "trace", "backward-trace", "timeline", "live", "stalls"]


class RequestFailed(EventBase, frozen=True, kw_only=True, tag="request-failed"):
    """A probe, watch, trace, timeline, launch or stalls could not be had.

    Attributes:
        request: Which of them.
        reason: Why, in one sentence for a user.
        detail: Compiler log or traceback.
        misused: Whether another request would have been right: what was asked for is not there, or not taken.
    """

    request: RequestKind
    reason: str
    detail: str = ""
    misused: bool = False


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
    | PlanResumed
    | CeilingsMeasured
    | PointStarted
    | PointChecked
    | SamplingStarted
    | PointProgress
    | PointMeasured
    | PointFailed
    | PlanFinished
    | TraceReady
    | BackwardTraceReady
    | TimelineProgress
    | TimelineReady
    | LandscapeReady
    | AuditReady
    | RanksReady
    | LiveStarted
    | LiveTiles
    | LiveEnded
    | StallsProgress
    | StallsReady
    | RequestFailed
    | LogLine
)

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Event).decode
