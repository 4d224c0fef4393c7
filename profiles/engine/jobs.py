"""What the worker is asked to do, as jobs of one task after the other."""

import platform
import sys
import time
import uuid
from collections import deque
from datetime import datetime, timezone
from typing import Protocol

from msgspec.structs import replace

from kernels.device import Device
from kernels.registry import find_kernel
from kernels.spec import KernelSpec
from kernels.trace import TraceRequest
from profiles.engine.stage_run import StageRun
from profiles.engine.tasks import Task
from profiles.plan.machine import Finding, Machine
from profiles.plan.plan import Plan
from profiles.results.rest import Rest
from profiles.wire.events import (
    CeilingsMeasured,
    Event,
    FailedStatus,
    LogLine,
    MachineFound,
    Outcome,
    PlanFinished,
    PlanStarted,
    RequestFailed,
    TelemetryStarted,
    TraceReady,
)
from profiles.wire.messages import MeasureCeilings, Message, ProbeMachine, RecordTrace
from profiles.worker.probe_host import probe_host

REQUEST_DEADLINE_S = 120.0
CEILINGS_DEADLINE_S = 60.0


class Job(Protocol):
    """Tasks that belong together.

    Attributes:
        cancellable: Whether somebody waits for it and can give it up (sweeps and traces).
        cancelled: Whether what is left of it is to be dropped.
    """

    cancellable: bool
    cancelled: bool

    def begin(self, machine: Machine, telemetry: TelemetryStarted | None) -> Event | None:
        """What is said first, when this watches the device already."""

    def next_task(self) -> Task | None:
        """What to do next, None when nothing is left."""

    def heard(self, message: Message) -> None:
        """Take in what the worker said while this was its job."""

    def end(self, failure: str | None) -> list[Event]:
        """What is said last; `failure` says why it could not go on, None: it could."""


class RequestJob:
    """A probe or a trace: one task, answered by its own closing event."""

    def __init__(self, task: Task, *, cancellable: bool) -> None:
        self.cancellable = cancellable
        self.cancelled = False
        self._task: Task | None = task
        self._fail = task.fail

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
            return self._fail("failed", failure, "")
        if self._task is not None and self.cancellable:
            return self._fail("cancelled", "It was cancelled before it began.", "")
        return []


class SweepJob:
    """A plan, or the rest of one: one stage after the other."""

    cancellable = True

    def __init__(self, plan: Plan, specs: tuple[KernelSpec, ...], rest: Rest | None = None) -> None:
        self.cancelled = False
        self._plan, self._rest = plan, rest
        self._predicted = tuple(
            find_kernel(p.kernel, specs).predicted_bytes(p.problem, plan.backend) for p in plan.points()
        )
        self._before: deque[Task] = deque()  # of the first stage
        self._stages: deque[StageRun] = deque()
        self._refused = ""

    def begin(self, machine: Machine, telemetry: TelemetryStarted | None) -> Event:
        """PlanStarted or PlanResumed; a plan for a device that is not there holds no stage."""
        device = machine.device(self._plan.backend)
        if device is None:
            self._refused = f"No usable GPU here: {machine.why_no_gpu()}. Choose the CPU backend."
        else:
            self._before.extend(first_tasks(device))
            stages = self._plan.stages() if self._rest is None else self._rest.stages(self._plan)
            self._stages.extend(StageRun(s, device, self._plan.protocol_of(s[0])) for s in stages)
        if self._rest is not None:
            return self._rest.begin(machine, telemetry)
        return PlanStarted(
            session_id=uuid.uuid4().hex,
            plan=self._plan,
            machine=machine,
            started_at=datetime.now(timezone.utc).astimezone().isoformat(timespec="milliseconds"),
            t_ns=time.monotonic_ns(),
            predicted_bytes=self._predicted,
            telemetry=telemetry,
        )

    def next_task(self) -> Task | None:
        """What goes before, then the next task of the first stage that is not through."""
        if self._before:
            return self._before.popleft()
        while self._stages:
            task = self._stages[0].next_task()
            if task is not None:
                return task
            self._stages.popleft()
        return None

    def heard(self, message: Message) -> None:
        """Tell the stage in flight."""
        if self._stages:
            self._stages[0].heard(message)

    def end(self, failure: str | None) -> list[Event]:
        """The end of every point in flight, then PlanFinished with the outcome."""
        reason = failure or self._refused
        outcome: Outcome = "failed" if reason else "cancelled" if self.cancelled else "finished"
        fate: FailedStatus = "failed" if failure else "cancelled"
        in_flight = (
            event for stage in self._stages for event in stage.close(fate, failure or "It was cancelled.")
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

    def fail(_: FailedStatus, reason: str, detail: str) -> list[Event]:
        remedy = "see the log; reinstalling the NVIDIA driver or CuPy may help"
        finding = Finding(name="CUDA", ok=False, detail=f"{reason} {detail}".strip(), remedy=remedy)
        host = _host()
        return [MachineFound(machine=replace(host, findings=(*host.findings, finding)))]

    task = Task(ProbeMachine(), (MachineFound,), REQUEST_DEADLINE_S, "looked at this machine", None, fail)
    return RequestJob(task, cancellable=False)


def _host() -> Machine:
    """This machine; only its name where not even files can be opened to look at it."""
    try:
        return probe_host()
    except OSError:
        cpu = Device(backend="cpu", name=platform.machine(), memory_bytes=0)
        return Machine(system=sys.platform, python=platform.python_version(), devices=(cpu,))


def trace_job(request: TraceRequest) -> Job:
    """A trace."""

    def fail(_: FailedStatus, reason: str, detail: str) -> list[Event]:
        return [RequestFailed(request="trace", reason=reason, detail=detail)]

    closed_by = (TraceReady, RequestFailed)
    task = Task(RecordTrace(request=request), closed_by, REQUEST_DEADLINE_S, "recorded a trace", None, fail)
    return RequestJob(task, cancellable=True)
