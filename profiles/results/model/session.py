"""A session in memory: a plain reducer over events. The window, the file and the command line all read it."""

import dataclasses
from collections import Counter
from copy import copy
from dataclasses import dataclass, field
from operator import attrgetter
from typing import get_args

from msgspec.structs import replace

from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.backward_trace import BackwardTrace
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.stalls import StallProfile
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Point
from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.results.model.bookmarks import Bookmark
from flashscope.profiles.wire.ceilings import Ceilings
from flashscope.profiles.wire.events import (
    Attempt,
    AuditReady,
    BackwardTraceReady,
    BrokenOff,
    CeilingsMeasured,
    Event,
    LandscapeReady,
    Outcome,
    Phase,
    PlanFinished,
    PlanResumed,
    PlanStarted,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointProgress,
    PointStarted,
    PointStatus,
    RanksReady,
    Reading,
    Readings,
    SamplingStarted,
    StallsReady,
    TelemetryStarted,
    TimelineReady,
    TraceReady,
)
from flashscope.profiles.wire.measurement import Measurement, joined_notes
from flashscope.profiles.wire.ranks import RanksResult

BROKEN_OFF: frozenset[PointStatus] = frozenset(get_args(BrokenOff))
"""Points that began and have no outcome of their own."""
UNFINISHED: frozenset[PointStatus] = frozenset({"pending", "running"})
NOT_ENDED: frozenset[PointStatus] = BROKEN_OFF | UNFINISHED
INTERRUPTED = "The session's writer ended while this point was running; resume the sweep to measure it."
NOT_REPEATED = "Its part of the session ended before it was measured once more."


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
        sampling_ns: When its sampling began, the same for points that take turns; None before.
        broken_off_ns: When those of its turns began that were broken off and taken again; not in a file.
        ended_ns: When it ended, None before.
        measurement: What it yielded, without samples until it has ended; None before its check.
        phase: What it is doing while it runs, with `done` of `total` steps; not in a file.
        last_ms: Its newest sample while it is sampled; not in a file.
        told_ns: When it was so far, None where that was not told; not in a file.
        altered: Whether its rows in the file are other than those written; None: the file does not tell.
        part: In which part of the session it was started, from 1; None before.
        device: On which of that part's devices, from 0.
        judged: By what it was last found possible or not, and why not (see profiles.results.model.rows).
    """

    point: Point
    predicted_bytes: int
    status: PointStatus = "pending"
    reason: str = ""
    detail: str = ""
    started_ns: int | None = None
    sampling_ns: int | None = None
    broken_off_ns: tuple[int, ...] = field(default=(), compare=False)
    ended_ns: int | None = None
    measurement: Measurement | None = None
    phase: Phase | None = None
    done: int = 0
    total: int = 0
    last_ms: float | None = None
    told_ns: int | None = field(default=None, compare=False)
    altered: bool | None = False
    part: int | None = None
    device: int = 0
    judged: tuple[Measurement, Ceilings | None, str] | None = field(default=None, compare=False, repr=False)

    @property
    def ended(self) -> bool:
        """Whether it has an outcome of its own: it was measured, was refused or failed."""
        return self.status not in NOT_ENDED

    @property
    def began_ns(self) -> int:
        """When its check or, after that, its sampling began; 0 before."""
        return self.sampling_ns or self.started_ns or 0

    def clear_progress(self) -> None:
        """Forget how far it got, which counts only while it runs."""
        self.phase, self.done, self.total, self.last_ms, self.told_ns = None, 0, 0, None, None


@dataclass
class Session:
    """Machine identity + plan + points + readings + notes, and what is kept with them as one value each.

    Attributes:
        id: A UUID in hex.
        plan: What was to be done.
        machine: Who measured.
        started_at: Wall clock of the start, ISO 8601 with offset.
        t0_ns: The same moment on the monotonic clock that all `t_ns` share.
        points: One state for each point, in running order, those of the drift check last; behind them what
            was repeated at the begin of later parts.
        telemetry: What watched the device, None when nothing did.
        readings: Telemetry samples of device 0, oldest first.
        beside: Those of the other devices that measured, by their numbers.
        traces: Traces recorded with it.
        timelines: Timelines recorded with it, or kept in it since.
        stalls: Samples of where the warps of launches stood, recorded with it or kept in it since.
        landscapes: Landscapes of cuts, the same.
        audits: What the attention of models asks for, the same; the points replay it.
        backward_traces: Traces of backward passes, the same.
        ranks: Attention on several ranks, beside one device, the same.
        outcome: None while it runs; a session whose writer was killed stays None.
        ended_ns: When it ended.
        name: The user's name for it; empty: named by its start.
        note: The user's words about it.
        tags: The user's words to find it by, sorted.
        bookmarks: The user's notes on points and moments, in their order.
        altered: How many readings and values, such as traces, timelines and audits, of its file are not what
            was recorded, and were left out.
        resumed: How each part after the first began.
        ceilings: What the device reached at the begin of each part, by its number from 1.
        run_mark: Which of several runs of one plan it is, None: it is alone.
        others: Who else measured its first part, as in PlanStarted.
    """

    id: str
    plan: Plan
    machine: Machine
    started_at: str
    t0_ns: int
    points: list[PointState]
    telemetry: TelemetryStarted | None = None
    readings: list[Reading] = field(default_factory=list)
    beside: dict[int, list[Reading]] = field(default_factory=dict)
    traces: list[Trace] = field(default_factory=list)
    timelines: list[StageTimeline] = field(default_factory=list)
    stalls: list[StallProfile] = field(default_factory=list)
    landscapes: list[CutLandscape] = field(default_factory=list)
    audits: list[ModelAudit] = field(default_factory=list)
    backward_traces: list[BackwardTrace] = field(default_factory=list)
    ranks: list[RanksResult] = field(default_factory=list)
    outcome: Outcome | None = None
    ended_ns: int | None = None
    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    altered: str = ""
    resumed: list[PlanResumed] = field(default_factory=list)
    ceilings: dict[int, Ceilings] = field(default_factory=dict)
    run_mark: RunMark | None = None
    others: tuple[Machine, ...] = ()

    @classmethod
    def begin(cls, event: PlanStarted) -> "Session":
        """The session a plan's first event opens."""
        states = [
            PointState(point, predicted)
            for point, predicted in zip(event.plan.points(), event.predicted_bytes, strict=True)
        ]
        return cls(
            id=event.session_id,
            plan=event.plan,
            machine=event.machine,
            started_at=event.started_at,
            t0_ns=event.t_ns,
            points=states,
            telemetry=event.telemetry,
            run_mark=event.run_mark,
            others=event.others,
        )

    def snapshot(self) -> "Session":
        """This session as it is now, to be read while it goes on; telemetry and traces are shared."""
        ended = (state if state.ended_ns is not None else copy(state) for state in self.points)
        return dataclasses.replace(self, points=list(ended))

    @property
    def backend(self) -> Backend:
        """Where it ran."""
        return self.plan.backend

    @property
    def cells(self) -> list[PointState]:
        """The points of the plan's kernels x problems: all but those of the drift check."""
        return self.points[: self.plan.cells]

    @property
    def planned(self) -> list[PointState]:
        """The points of the plan: all but what was repeated at the begin of later parts."""
        return self.points[: len(self.points) - sum(len(part.repeats) for part in self.resumed)]

    @property
    def in_flight(self) -> list[PointState]:
        """The points that workers are at: of each device one that is checked, or all that take turns."""
        running = [s for s in self.points if s.status == "running"]
        newest: dict[int, int] = {}
        for state in running:
            newest[state.device] = max(state.began_ns, newest.get(state.device, 0))
        return [s for s in running if s.began_ns == newest[s.device]]

    def machine_of(self, state: PointState) -> Machine:
        """Who measured a point."""
        machines = self.machines(state.part or 1)
        return machines[state.device] if state.device < len(machines) else machines[0]

    def machines(self, part: int) -> tuple[Machine, ...]:
        """Who measured a part, by the numbers of the devices."""
        begun = self if part == 1 else self.resumed[part - 2]
        return (begun.machine, *begun.others)

    @property
    def to_come(self) -> list[PointState]:
        """The points that the part which runs has still to end."""
        number = len(self.resumed) + 1
        again = {attempt.index for part in self.resumed[-1:] for attempt in part.again}
        return [
            state
            for state in self.points
            if state.status in UNFINISHED or (state.point.index in again and state.part != number)
        ]

    def measured_anew(self, part: PlanResumed) -> list[Attempt]:
        """What a part was to measure anew, and did; what it did not get to, the next one has again."""
        later = {attempt for other in self.resumed[part.part - 1 :] for attempt in other.again}
        return [
            attempt
            for attempt in part.again
            if attempt not in later and (self.points[attempt.index].part or 0) >= part.part
        ]

    @property
    def ended_points(self) -> int:
        """How many of the cells have an outcome of their own, a failure among others."""
        return sum(count for status, count in self._statuses.items() if status not in NOT_ENDED)

    @property
    def not_done(self) -> dict[PointStatus, int]:
        """How many of the cells failed or were broken off, by how."""
        done = UNFINISHED | {"done"}
        return {status: count for status, count in self._statuses.items() if status not in done}

    @property
    def _statuses(self) -> Counter[PointStatus]:
        """How many of the cells have which status; asked for often, and there may be ten thousand."""
        return Counter(map(attrgetter("status"), self.cells))

    def apply(self, event: Event) -> None:
        """Take in one event; events that are not about a session change nothing."""
        match event:
            case PointStarted():
                self._start_point(event)
            case PointProgress():
                state = self.points[event.index]
                state.phase, state.done, state.total = event.phase, event.done, event.total
                state.last_ms, state.told_ns = event.last_ms, event.t_ns
            case PointChecked():
                self.points[event.index].measurement = event.measurement
            case SamplingStarted():
                self._begin_sampling(event)
            case PointMeasured() | PointFailed():
                self._end_point(event)
            case _:
                self._apply_to_all(event)

    def _apply_to_all(self, event: Event) -> None:
        """Take in an event that is about no single point."""
        match event:
            case PlanResumed():
                self._resume(event)
            case CeilingsMeasured():
                self.ceilings[len(self.resumed) + 1] = event.ceilings
            case TelemetryStarted():
                self.telemetry = event
            case Readings(readings=readings) if readings:
                self.readings_of(event.device).extend(readings)
            case PlanFinished():
                self.outcome, self.ended_ns = event.outcome, event.t_ns
            case _:
                self._keep(event)

    def readings_of(self, device: int) -> list[Reading]:
        """The telemetry samples of a device, to which more may be added."""
        return self.beside.setdefault(device, []) if device else self.readings

    def _keep(self, event: Event) -> None:
        """Take in what is one value; of all else there is nothing to keep."""
        match event:
            case TraceReady():
                self.traces.append(event.trace)
            case TimelineReady():
                self.timelines.append(event.timeline)
            case StallsReady():
                self.stalls.append(event.profile)
            case LandscapeReady():
                self.landscapes.append(event.landscape)
            case AuditReady():
                self.audits.append(event.audit)
            case BackwardTraceReady():
                self.backward_traces.append(event.trace)
            case RanksReady():
                self.ranks.append(event.result)
            case _:
                pass

    def _resume(self, event: PlanResumed) -> None:
        self.give_up_repeats()
        self.interrupt()
        repeats = self.plan.again(event.repeats, len(self.points))
        predicted = [self.points[index].predicted_bytes for index in event.repeats]
        self.points.extend(map(PointState, repeats, predicted))
        self.resumed.append(event)
        self.outcome = self.ended_ns = None
        self.telemetry = event.telemetry or self.telemetry

    def give_up_repeats(self) -> None:
        """Close what was to be repeated at the begin of a part and was not: no later part does it."""
        for state in self.points[len(self.planned) :]:
            if state.status in UNFINISHED:
                state.status, state.reason = "interrupted", NOT_REPEATED

    def interrupt(self) -> None:
        """Close what was running when whoever measured it was killed."""
        for state in self.points:
            if state.status == "running":
                state.status, state.reason = "interrupted", INTERRUPTED
                state.clear_progress()

    def _start_point(self, event: PointStarted) -> None:
        """Begin a point's measurement; how it may have ended in an earlier part is over with that."""
        before = self.points[event.index]
        self.points[event.index] = PointState(
            before.point,
            before.predicted_bytes,
            status="running",
            started_ns=event.t_ns,
            phase="prepare",
            part=len(self.resumed) + 1,
            device=event.device,
        )

    def _begin_sampling(self, event: SamplingStarted) -> None:
        for state in (self.points[index] for index in event.indices):
            if state.sampling_ns is not None:
                state.broken_off_ns += (state.sampling_ns,)
            state.sampling_ns = event.t_ns
            if event.remark and state.measurement is not None:
                note = joined_notes(state.measurement.note, event.remark)
                state.measurement = replace(state.measurement, note=note)

    def _end_point(self, event: PointMeasured | PointFailed) -> None:
        state = self.points[event.index]
        state.ended_ns = event.t_ns
        state.clear_progress()
        if isinstance(event, PointFailed):
            state.status, state.reason, state.detail = event.status, event.reason, event.detail
            state.measurement = event.measurement or state.measurement
            return
        state.status = "done"
        if state.measurement is None:
            raise ValueError(f"point {event.index} was measured before it was checked")
        figures = state.measurement.figures | event.figures
        traffic = event.traffic or state.measurement.traffic
        measured = replace(state.measurement, samples=event.samples, figures=figures, traffic=traffic)
        state.measurement = measured
