"""What the worker is asked to do, as jobs of one task after the other."""

import platform
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Protocol

from msgspec.structs import replace

from flashscope.kernels.catalogue.environments import environment_of
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.own.consent import obstacle_to_run
from flashscope.kernels.own.spec import with_own
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.live import MOST_S, LiveRequest
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine.beginning import plan_started, predicted_bytes
from flashscope.profiles.engine.children import RUNG_S
from flashscope.profiles.engine.group_run import GroupRun
from flashscope.profiles.engine.tasks import Fail, Task
from flashscope.profiles.plan.machine import Machine, ProbeFinding
from flashscope.profiles.plan.plan import Plan, Point
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import (
    BackwardTraceReady,
    CeilingsMeasured,
    Event,
    FailedStatus,
    LogLine,
    MachineFound,
    Outcome,
    PlanFinished,
    RequestFailed,
    RequestKind,
    StallsReady,
    TelemetryStarted,
    TimelineReady,
    TraceReady,
)
from flashscope.profiles.wire.live_events import LiveEnded
from flashscope.profiles.wire.messages import (
    Command,
    MeasureCeilings,
    Message,
    ProbeMachine,
    RecordBackwardTrace,
    RecordStalls,
    RecordTimeline,
    RecordTrace,
    RunLive,
)
from flashscope.profiles.worker.probing.host import probe_host

REQUEST_DEADLINE_S = 120.0
CEILINGS_DEADLINE_S = 60.0
TIMELINE_DEADLINE_S = 600.0
STALLS_DEADLINE_S = 600.0
LIVE_DEADLINE_S = 2 * MOST_S


class Job(Protocol):
    """Tasks that belong together.

    Attributes:
        cancellable: Whether somebody waits for it and can give it up (sweeps and traces).
        cancelled: Whether what is left of it is to be dropped.
        patience_s: After which a worker that does not give it up is ended.
    """

    cancellable: bool
    cancelled: bool
    patience_s: float

    def begin(self, machine: Machine, telemetry: TelemetryStarted | None) -> Event | None:
        """What is said first, when this watches the device already."""

    def next_task(self) -> Task | None:
        """What to do next, None when nothing is left."""

    def heard(self, message: Message) -> None:
        """Take in what the worker said while this was its job."""

    def end(self, failure: str | None) -> list[Event]:
        """What is said last; `failure` says why it could not go on, None: it could."""


class RequestJob:
    """A probe, a trace, a timeline, a launch or stalls: one task, answered by its own closing event.

    Args:
        task: The task.
        cancellable: Whether somebody can give it up.
        unbegun: Makes the answer where no worker could take it up; left out: the task's own `fail`.
    """

    patience_s = RUNG_S

    def __init__(self, task: Task, *, cancellable: bool, unbegun: Fail | None = None) -> None:
        self.cancellable = cancellable
        self.cancelled = False
        self._task: Task | None = task
        self._fail, self._unbegun = task.fail, unbegun or task.fail

    def begin(self, machine: Machine, telemetry: TelemetryStarted | None) -> None:
        """Nothing is said first."""

    def next_task(self) -> Task | None:
        """The one task, once."""
        task, self._task = self._task, None
        return task

    def heard(self, message: Message) -> None:
        """Whatever is said ends it."""

    def end(self, failure: str | None) -> list[Event]:
        """The failure in place of the answer, when there was none and anybody waits for it."""
        if failure is not None:
            return (self._unbegun if self._task else self._fail)("failed", failure, "")
        if self._task is not None and self.cancellable:
            return self._fail("cancelled", "It was cancelled before it began.", "")
        return []


class TimelineJob(RequestJob):
    """A timeline, which can be given up while what stands before it goes on."""


class StallsJob(RequestJob):
    """Stalls of a launch, which can be given up while what stands before them goes on."""


class LiveJob(RequestJob):
    """A launch in slow motion, which somebody watches: it ends soon after it is given up."""

    patience_s = 0.5


class SweepJob:
    """A plan, or the rest of one: one group after the other."""

    cancellable = True
    patience_s = RUNG_S

    def __init__(self, plan: Plan, specs: tuple[KernelSpec, ...], remaining: Remaining | None = None) -> None:
        self.cancelled = False
        self._plan, self._remaining = plan, remaining
        specs = with_own(specs, plan.own)
        self._predicted = predicted_bytes(plan, specs)
        folders = {spec.name: spec.extra and environment_of(spec.extra) for spec in specs}
        self._aheads = {kernel: str(folder) for kernel, folder in folders.items() if folder}
        self._compile_s = {spec.name: spec.compile_s for spec in specs}
        self._before: deque[Task] = deque()  # of the first group
        self._groups: deque[GroupRun] = deque()
        self._refused = ""

    def begin(self, machine: Machine, telemetry: TelemetryStarted | None) -> Event:
        """PlanStarted or PlanResumed; there is no group where the device is missing or a file may not run."""
        device = machine.device(self._plan.backend)
        if obstacle := next(filter(None, map(obstacle_to_run, self._plan.own)), ""):
            self._refused = obstacle
        elif device is None:
            self._refused = f"No usable GPU here: {machine.why_no_gpu()}. Choose the CPU backend."
        else:
            if self._remaining is None or self._remaining.ceilings:
                self._before.extend(first_tasks(device))
            groups = self._plan.groups() if self._remaining is None else self._remaining.groups(self._plan)
            self._groups.extend(self._runs(groups, device))
        if self._remaining is not None:
            return self._remaining.begin(machine, telemetry)
        return plan_started(self._plan, self._predicted, machine, telemetry)

    def _runs(self, groups: Sequence[Sequence[Point]], device: Device) -> Iterator[GroupRun]:
        """The groups on their way, each in parts by where the worker finds its kernels' libraries.

        Every other group begins with the worker that the one before it ended with.
        """
        ahead = ""
        for group in groups:
            parts: dict[str, list[Point]] = {}
            for point in group:
                parts.setdefault(self._aheads.get(point.kernel, ""), []).append(point)
            for folder in sorted(parts, key=lambda one: (one != ahead, one)):
                protocol = self._plan.protocol_of(group[0])
                yield GroupRun(parts[folder], device, protocol, folder, self._compile_s, own=self._plan.own)
                ahead = folder

    def next_task(self) -> Task | None:
        """What goes before, then the next task of the first group that is not through."""
        if self._before:
            return self._before.popleft()
        while self._groups:
            task = self._groups[0].next_task()
            if task is not None:
                return task
            self._groups.popleft()
        return None

    def heard(self, message: Message) -> None:
        """Tell the group in flight."""
        if self._groups:
            self._groups[0].heard(message)

    def end(self, failure: str | None) -> list[Event]:
        """The end of every point in flight, then PlanFinished with the outcome."""
        reason = failure or self._refused
        outcome: Outcome = "failed" if reason else "cancelled" if self.cancelled else "finished"
        fate: FailedStatus = "failed" if failure else "cancelled"
        in_flight = (
            event for group in self._groups for event in group.close(fate, failure or "It was cancelled.")
        )
        return [*in_flight, PlanFinished(t_ns=time.monotonic_ns(), outcome=outcome, reason=reason)]


def first_tasks(device: Device) -> tuple[Task, ...]:
    """Ceilings; a worker that dies of them leaves a sweep without any."""

    def fail(_: FailedStatus, reason: str, detail: str) -> list[Event]:
        text = " ".join(filter(None, ("No ceilings were measured.", reason, detail)))
        return [LogLine(source="engine", text=text, level="warning")]

    what = "measured what this device reaches"
    return (Task(MeasureCeilings(device=device), (CeilingsMeasured,), CEILINGS_DEADLINE_S, what, None, fail),)


def probe_job() -> Job:
    """A probe; one that kills the worker is answered with what can be found without any GPU library."""

    def told(name: str, detail: str, remedy: str = "") -> list[Event]:
        finding, host = ProbeFinding(name=name, ok=False, detail=detail, remedy=remedy), _host()
        return [MachineFound(machine=replace(host, findings=(*host.findings, finding)))]

    def died(_: FailedStatus, reason: str, detail: str) -> list[Event]:
        remedy = "reinstalling the NVIDIA driver or CuPy may help" if find_spec("cupy") else ""
        return told("CUDA", f"{reason} {detail}".strip(), remedy)

    def unbegun(_: FailedStatus, reason: str, detail: str) -> list[Event]:
        return told("Worker", f"{reason} {detail}".strip())

    task = Task(ProbeMachine(), (MachineFound,), REQUEST_DEADLINE_S, "looked at this machine", None, died)
    return RequestJob(task, cancellable=False, unbegun=unbegun)


def _host() -> Machine:
    """This machine; only its name where not even files can be opened to look at it."""
    try:
        return probe_host()
    except OSError:
        cpu = Device(backend="cpu", name=platform.machine(), memory_bytes=0)
        return Machine(system=sys.platform, python=platform.python_version(), devices=(cpu,))


def trace_job(request: TraceRequest) -> Job:
    """A trace."""
    what = "recorded a trace"
    task = _asked("trace", RecordTrace(request=request), TraceReady, REQUEST_DEADLINE_S, what)
    return RequestJob(task, cancellable=True)


def backward_trace_job(request: BackwardTraceRequest) -> Job:
    """A trace of a backward pass."""
    command, what = RecordBackwardTrace(request=request), "recorded a backward pass"
    task = _asked("backward-trace", command, BackwardTraceReady, REQUEST_DEADLINE_S, what)
    return RequestJob(task, cancellable=True)


def timeline_job(request: TimelineRequest) -> Job:
    """A timeline."""
    command, what = RecordTimeline(request=request), "recorded a timeline"
    task = _asked("timeline", command, TimelineReady, TIMELINE_DEADLINE_S, what)
    return TimelineJob(task, cancellable=True)


def stalls_job(request: StallRequest) -> Job:
    """Stalls of a launch."""
    command, what = RecordStalls(request=request), "sampled where warps stand"
    task = _asked("stalls", command, StallsReady, STALLS_DEADLINE_S, what)
    return StallsJob(task, cancellable=True)


def live_job(request: LiveRequest) -> Job:
    """A launch in slow motion."""
    task = _asked("live", RunLive(request=request), LiveEnded, LIVE_DEADLINE_S, "ran in slow motion")
    return LiveJob(task, cancellable=True)


def _asked(kind: RequestKind, command: Command, answer: type[Message], deadline_s: float, what: str) -> Task:
    """The task of a request, which RequestFailed answers where its answer does not come."""

    def fail(_: FailedStatus, reason: str, detail: str) -> list[Event]:
        return [RequestFailed(request=kind, reason=reason, detail=detail)]

    return Task(command, (answer, RequestFailed), deadline_s, what, None, fail)
