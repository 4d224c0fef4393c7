"""A session in memory: a plain reducer over events. The window, the file and the command line all read it."""

from dataclasses import dataclass, field

from kernels.problem import Backend
from kernels.trace import Trace
from profiles.events import (
    Event,
    Measurement,
    Outcome,
    Phase,
    PlanFinished,
    PlanStarted,
    PointFailed,
    PointMeasured,
    PointProgress,
    PointStarted,
    PointStatus,
    Reading,
    Readings,
    TelemetryStarted,
    TraceReady,
)
from profiles.machine import Machine
from profiles.plan import Plan, Point


@dataclass
class PointState:
    """What is known of one point so far.

    Attributes:
        point: The cell of the plan.
        predicted_bytes: Footprint predicted before the launch.
        status: Where it stands.
        reason: Why it is not `done`, in one sentence; empty otherwise.
        detail: More of the reason: logs, arithmetic.
        started_ns: When it started, None before; same clock as the session's `t0_ns`.
        ended_ns: When it ended, None before.
        measurement: What it yielded, None before.
        phase: What it is doing while it runs, with `done` of `total` steps.
    """

    point: Point
    predicted_bytes: int
    status: PointStatus = "pending"
    reason: str = ""
    detail: str = ""
    started_ns: int | None = None
    ended_ns: int | None = None
    measurement: Measurement | None = None
    phase: Phase | None = None
    done: int = 0
    total: int = 0


@dataclass
class Session:
    """Machine identity + plan + points + readings + traces + notes.

    Attributes:
        id: A UUID in hex.
        plan: What was to be done.
        machine: Who measured.
        started_at: Wall clock of the start, ISO 8601 with offset.
        t0_ns: The same moment on the monotonic clock that all `t_ns` share.
        points: One state for each point, in running order.
        telemetry: What watched the device, None when nothing did.
        readings: Telemetry samples, oldest first.
        traces: Traces recorded with it.
        outcome: None while it runs; a session whose writer was killed stays None.
        ended_ns: When it ended.
        name: The user's name for it; empty: named by its start.
        note: The user's words about it.
    """

    id: str
    plan: Plan
    machine: Machine
    started_at: str
    t0_ns: int
    points: list[PointState]
    telemetry: TelemetryStarted | None = None
    readings: list[Reading] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    outcome: Outcome | None = None
    ended_ns: int | None = None
    name: str = ""
    note: str = ""

    @classmethod
    def begin(cls, event: PlanStarted) -> "Session":
        """The session a plan's first event opens."""
        states = [
            PointState(point, predicted)
            for point, predicted in zip(event.plan.points(), event.predicted_bytes, strict=True)
        ]
        return cls(event.session_id, event.plan, event.machine, event.started_at, event.t_ns, states)

    @property
    def backend(self) -> Backend:
        """Where it ran."""
        return self.plan.backend

    @property
    def running(self) -> PointState | None:
        """The point in flight, if any."""
        return next((s for s in self.points if s.status == "running"), None)

    @property
    def ended_points(self) -> int:
        """How many points have an outcome."""
        return sum(s.status not in {"pending", "running"} for s in self.points)

    def apply(self, event: Event) -> None:
        """Take in one event; events that are not about a session change nothing."""
        match event:
            case PointStarted():
                state = self.points[event.index]
                state.status, state.started_ns, state.phase = "running", event.t_ns, "prepare"
            case PointProgress():
                state = self.points[event.index]
                state.phase, state.done, state.total = event.phase, event.done, event.total
            case PointMeasured():
                self._end_point(event.index, "done", event.t_ns, event.measurement)
            case PointFailed():
                self._end_point(event.index, event.status, event.t_ns, event.measurement)
                state = self.points[event.index]
                state.reason, state.detail = event.reason, event.detail
            case TelemetryStarted():
                self.telemetry = event
            case Readings():
                self.readings.extend(event.readings)
            case TraceReady():
                self.traces.append(event.trace)
            case PlanFinished():
                self.outcome, self.ended_ns = event.outcome, event.t_ns
            case _:
                pass

    def _end_point(self, index: int, status: PointStatus, t_ns: int, measurement: Measurement | None) -> None:
        state = self.points[index]
        state.status, state.ended_ns, state.measurement, state.phase = status, t_ns, measurement, None
