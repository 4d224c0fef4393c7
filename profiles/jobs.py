"""What the worker is asked to do, as jobs of one command after the other."""

import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Protocol

from msgspec.structs import replace

from kernels.registry import find_kernel
from kernels.spec import KernelSpec
from kernels.trace import TraceRequest
from profiles.events import (
    Event,
    FailedStatus,
    MachineFound,
    Outcome,
    PlanFinished,
    PlanStarted,
    PointFailed,
    PointStarted,
    RequestFailed,
)
from profiles.machine import Finding, Machine
from profiles.messages import Command, MeasurePoint, ProbeMachine, RecordTrace
from profiles.plan import Plan, Point
from profiles.probe_host import probe_host

REQUEST_DEADLINE_S = 120.0


@dataclass(frozen=True)
class Task:
    """One command for the worker.

    Attributes:
        command: What to send; the worker answers it with exactly one closing event.
        deadline_s: After this many seconds without that answer the worker is ended.
        what: What it does, for the words of a failure.
        start: The event that announces it, made when it is sent; None: nothing is said.
        fail: The closing event in place of the answer that never came.
    """

    command: Command
    deadline_s: float
    what: str
    start: Callable[[], Event] | None
    fail: Callable[[FailedStatus, str, str], Event]


class Job(Protocol):
    """Tasks that belong together.

    Attributes:
        exclusive: Whether a second one is refused while it lasts (sweeps and traces).
        cancelled: Whether what is left of it is to be dropped.
    """

    exclusive: bool
    cancelled: bool

    def begin(self, machine: Machine) -> Event | None:
        """What is said first."""

    def next_task(self) -> Task | None:
        """What to do next, None when nothing is left."""

    def end(self, failure: str | None) -> Event | None:
        """What is said last; `failure` says why it could not go on, None: it could."""


class RequestJob:
    """A probe or a trace: one task, answered by its own closing event."""

    def __init__(self, task: Task, *, exclusive: bool) -> None:
        self.exclusive = exclusive
        self.cancelled = False
        self._task: Task | None = task
        self._fail = task.fail

    def begin(self, machine: Machine) -> None:
        """Nothing is said first."""

    def next_task(self) -> Task | None:
        """The one task, once."""
        task, self._task = self._task, None
        return task

    def end(self, failure: str | None) -> Event | None:
        """The failure in place of the answer, when there was none and anybody waits for it."""
        if failure is not None:
            return self._fail("failed", failure, "")
        if self._task is not None and self.exclusive:
            return self._fail("cancelled", "It was cancelled before it began.", "")
        return None


class SweepJob:
    """A plan: one task a point."""

    exclusive = True

    def __init__(self, plan: Plan, specs: tuple[KernelSpec, ...]) -> None:
        self.cancelled = False
        self._plan = plan
        self._predicted = tuple(
            find_kernel(p.kernel, specs).predicted_bytes(p.problem, plan.backend) for p in plan.points()
        )
        self._tasks: deque[Task] = deque()
        self._refused = ""

    def begin(self, machine: Machine) -> Event:
        """PlanStarted; a plan for a device that is not there holds no task."""
        device = machine.device(self._plan.backend)
        if device is None:
            self._refused = _no_device(machine)
        else:
            protocol = self._plan.protocol
            self._tasks.extend(
                _point_task(p, MeasurePoint(point=p, device=device, protocol=protocol), protocol.deadline_s)
                for p in self._plan.points()
            )
        return PlanStarted(
            session_id=uuid.uuid4().hex,
            plan=self._plan,
            machine=machine,
            started_at=datetime.now(timezone.utc).astimezone().isoformat(timespec="milliseconds"),
            t_ns=time.monotonic_ns(),
            predicted_bytes=self._predicted,
        )

    def next_task(self) -> Task | None:
        """The next point."""
        return self._tasks.popleft() if self._tasks else None

    def end(self, failure: str | None) -> Event:
        """PlanFinished, with the outcome."""
        reason = failure or self._refused
        outcome: Outcome = "failed" if reason else "cancelled" if self.cancelled else "finished"
        return PlanFinished(t_ns=time.monotonic_ns(), outcome=outcome, reason=reason)


def probe_job() -> Job:
    """A probe; one that kills the worker is answered with what can be found without any GPU library."""

    def fail(_: FailedStatus, reason: str, detail: str) -> Event:
        remedy = "see the log; reinstalling the NVIDIA driver or CuPy may help"
        finding = Finding(name="CUDA", ok=False, detail=f"{reason} {detail}".strip(), remedy=remedy)
        found = probe_host()
        return MachineFound(machine=replace(found, findings=(*found.findings, finding)))

    task = Task(ProbeMachine(), REQUEST_DEADLINE_S, "looked at this machine", None, fail)
    return RequestJob(task, exclusive=False)


def trace_job(request: TraceRequest) -> Job:
    """A trace."""

    def fail(_: FailedStatus, reason: str, detail: str) -> Event:
        return RequestFailed(request="trace", reason=reason, detail=detail)

    task = Task(RecordTrace(request=request), REQUEST_DEADLINE_S, "recorded a trace", None, fail)
    return RequestJob(task, exclusive=True)


def _point_task(point: Point, command: MeasurePoint, deadline_s: float) -> Task:
    def start() -> Event:
        return PointStarted(index=point.index, t_ns=time.monotonic_ns())

    def fail(status: FailedStatus, reason: str, detail: str) -> Event:
        return PointFailed(
            index=point.index, t_ns=time.monotonic_ns(), status=status, reason=reason, detail=detail
        )

    what = f"ran {point.kernel} at N = {point.problem.seqlen_q}"
    return Task(command, deadline_s, what, start, fail)


def _no_device(machine: Machine) -> str:
    """Why there is no GPU here, from what the probe found."""
    missing = [f for f in machine.findings if not f.ok]
    causes = "; ".join(f"{f.name}: {f.detail}{f.remedy and ' - '}{f.remedy}" for f in missing)
    return f"This machine has no usable GPU ({causes or 'none was found'}); choose the CPU backend."
