"""Keeps workers going, one at a time: jobs, deadlines, cancelling, a fresh worker after a crash."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

from flashscope.profiles.engine.child import Child, MakeWorker
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.engine.jobs import Job, LiveJob, RequestJob, SweepJob, probe_job
from flashscope.profiles.engine.pool import WorkerPool
from flashscope.profiles.engine.tasks import Task
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.wire.events import Event, FailedStatus, LogLine, MachineFound, TelemetryStarted
from flashscope.profiles.wire.messages import Beside, Cancel, Message, Park, Parked, Ready, Retiring
from flashscope.profiles.worker.probing.host import probe_host

START_S = 60.0  # a worker that takes no commands after this long never will
PARK_S = 10.0  # what a worker may take to give back what it holds

WorkerState = Literal["absent", "starting", "idle", "busy", "parking"]


class Supervisor:
    """The worker and its queue of jobs; used from the engine's thread only.

    Where a sweep's kernels find their libraries in folders of their own, there is a worker for each of these
    until the sweep ends: one measures, and the others are parked.

    Args:
        emit: Takes every event.
        make_child: Starts a worker.
        job_ended: Told of a job's end before its last events are said.
        telemetry: What watches the device at this moment, None when nothing does.

    Attributes:
        child: The worker that measures, None when there is none.
        machine: What the last probe found, None before.
    """

    def __init__(
        self,
        emit: Sink,
        make_child: MakeWorker,
        job_ended: Callable[[Job], None],
        telemetry: Callable[[], TelemetryStarted | None],
    ) -> None:
        self.child: Child | None = None
        self.machine: Machine | None = None
        self._emit = emit
        self._make_child = make_child
        self._job_ended = job_ended
        self._telemetry = telemetry
        self._jobs: deque[Job] = deque()
        self._job: Job | None = None
        self._task: Task | None = None
        self._next: Task | None = None  # waits for a worker that finds modules elsewhere
        self._ahead = ""
        self._pool = WorkerPool()
        self._state: WorkerState = "absent"
        self._retiring = False
        self._deadline: float | None = None
        self._patience: float | None = None

    @property
    def children(self) -> tuple[Child, ...]:
        """Every worker that runs: the one that measures first, if there is one."""
        return (*filter(None, [self.child]), *self._pool.children)

    @property
    def due(self) -> float | None:
        """When `tick` has something to do (time.monotonic), None when it only waits for the worker."""
        return min((d for d in (self._deadline, self._patience) if d is not None), default=None)

    def submit(self, job: Job) -> None:
        """Queue a job; a sweep on an unknown machine is preceded by a probe."""
        if isinstance(job, SweepJob) and self.machine is None and not self._probing:
            self._jobs.append(probe_job())
        self._jobs.append(job)
        self._advance()

    def probe_unless_probing(self) -> None:
        """Have the machine looked at, unless that is under way."""
        if not self._probing:
            self.submit(probe_job())

    @property
    def _probing(self) -> bool:
        return any(job is not None and not job.cancellable for job in (self._job, *self._jobs))

    def cancel(self, kind: type[object] = object) -> None:
        """Drop what is left of sweeps, traces and timelines, and give up what is in flight within one repeat.

        Args:
            kind: What is dropped; left out: all that can be.
        """
        open_jobs = (job for job in (self._job, *self._jobs) if job and not job.cancelled)
        jobs = [job for job in open_jobs if job.cancellable and isinstance(job, kind)]
        if not jobs:
            return
        self._emit(LogLine(source="engine", text="Cancelling after the repeat in flight."))
        for job in jobs:
            job.cancelled = True
        if self._task is not None and self._job is not None and self._job in jobs and self.child is not None:
            self.child.send(Cancel())
            self._patience = time.monotonic() + self._job.patience_s
        self._advance()

    def renew(self) -> None:
        """Let the worker end, after a trace that it records: the next sweep starts a fresh one."""
        if self._state == "idle":
            self._leave(ask=True)
        elif isinstance(self._job, RequestJob):
            self._retiring = True

    def stop(self) -> None:
        """Close every sweep and trace as cancelled and ask every worker to end."""
        task, self._task = self._task, None
        if task is not None and self._job is not None and self._job.cancellable:
            self._close_task(task.fail("cancelled", "The engine was closed.", ""))
        self._leave(ask=True)
        self._pool.leave_all()
        self._deadline = self._patience = None
        for job in (self._job, *self._jobs):
            if job is not None:
                job.cancelled = True
        self._advance()  # every job is cancelled: this closes them and starts nothing

    def break_off(self, reason: str) -> None:
        """Close every job as failed for this reason; its workers have been killed.

        What a probe is answered with then is not remembered: the next sweep looks again.
        """
        self.child, self._state, self._ahead = None, "absent", ""
        self._pool.forget()
        self._task = self._next = self._deadline = self._patience = None
        jobs, self._job = [job for job in (self._job, *self._jobs) if job is not None], None
        self._jobs.clear()
        for job in jobs:
            last = job.end(reason)
            self._job_ended(job)
            for event in last:
                self._emit(event)

    def receive(self, message: Message) -> None:
        """Take in what the worker that measures says."""
        if isinstance(message, Ready):
            self._rest()
        elif isinstance(message, Parked):
            self._parked(message)
        elif isinstance(message, Retiring):
            self._retiring = True
        elif self._task is not None and isinstance(message, self._task.closed_by):
            self._answered(message)
        else:
            self._pass_on(message)

    def exited(self, child: Child) -> None:
        """A worker is gone: close what it was doing, and go on with a fresh one."""
        if child is not self.child:
            self._exited_aside(child)
            return
        self.child = None
        before, self._state = self._state, "absent"
        self._deadline = None
        if before == "starting":
            if self._job is not None:
                self._finish_job(
                    f"The worker process {child.epitaph()} before it could start{_last_of(child)}."
                )
        elif before == "busy" and self._task is not None:
            self._task_died(self._task, child)
        elif before in {"idle", "parking"}:
            self._warn(f"The idle worker {child.epitaph()}; a fresh one takes its place.")
        self._advance()

    def _exited_aside(self, child: Child) -> None:
        """A worker that did not measure is gone."""
        if self._pool.exited(child):
            self._warn(f"A parked worker {child.epitaph()}; a fresh one takes its place when it is needed.")
            self._tell_beside()
        self._advance()

    def _warn(self, text: str) -> None:
        self._emit(LogLine(source="engine", text=text, level="warning"))

    def tick(self) -> None:
        """Act on a deadline that has passed."""
        now = time.monotonic()
        if self._patience is not None and now >= self._patience:
            self._patience = None
            if self.child is not None and self._state == "busy":
                self.child.end(ask=False, at_once=isinstance(self._job, LiveJob))
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            self._expire()

    def _expire(self) -> None:
        """The task, or the worker's start or parking, took too long."""
        if self._state == "starting" and self.child is not None:
            self.child.end(ask=False)
        elif self._state == "parking":
            self._leave(ask=False)
            self._warn(
                f"A worker gave back nothing for {PARK_S:g} s and was ended; a fresh one takes its place."
            )
        elif self._task is not None:
            task = self._task
            limit = f"its deadline of {task.deadline_s:g} s"
            text = f"It was killed at {limit}: it hangs, or takes longer here; choose a smaller problem."
            self._leave(ask=False)
            self._close_task(task.fail(self._fate("timeout"), text, ""))
            self._advance()

    def _task_died(self, task: Task, child: Child) -> None:
        if self._job is not None and self._job.cancelled:
            reason = f"It was cancelled; the worker did not react in time and {child.epitaph()}."
        else:
            reason = f"The worker process {child.epitaph()} while it {task.what}."
        self._close_task(task.fail(self._fate("failed"), reason, "\n".join(child.lines)))

    def _fate(self, status: FailedStatus) -> FailedStatus:
        """The status of a task that was ended: cancelling explains everything that happens after it."""
        return "cancelled" if self._job is not None and self._job.cancelled else status

    def _answered(self, message: Message) -> None:
        self._state = "idle"
        if self._retiring:
            self._leave(ask=True)
        self._close_task([message])
        self._advance()

    def _close_task(self, last: Sequence[Message]) -> None:
        self._task = self._deadline = self._patience = None
        if isinstance(self._job, RequestJob):  # its answer is its last event
            self._finish_job(None)
        for message in last:
            self._pass_on(message)

    def _pass_on(self, message: Message) -> None:
        """Tell the job what was said, and the sink if it is an event."""
        if self._job is not None:
            self._job.heard(message)
        if isinstance(message, MachineFound):
            self.machine = message.machine
        if isinstance(message, Event):
            self._emit(message)

    def _advance(self) -> None:
        """Do the next thing there is to do, if the worker can."""
        while self._task is None and (self._job is not None or self._jobs):
            if self._job is None:
                self._begin_job()
            elif self._job.cancelled:
                self._finish_job(None)
            elif self._pool.leaving:
                return
            elif self.child is None:
                self._find_worker(self._job)
            elif self._state != "idle" or not self._start_task(self._job):
                return

    def _begin_job(self) -> None:
        self._job = self._jobs.popleft()
        opening = self._job.begin(self.machine or probe_host(), self._telemetry())
        if opening is not None:
            self._emit(opening)

    def _start_task(self, job: Job) -> bool:
        """Send the job's next command, or finish the job; False once a command is in flight."""
        task, self._next = self._next or job.next_task(), None
        if task is None or self.child is None:
            self._finish_job(None)
            return True
        if task.ahead != self._ahead:
            self._next = task
            self._park()
            return False
        self._task, self._state = task, "busy"
        self._deadline = time.monotonic() + task.deadline_s
        if task.start is not None:
            self._emit(task.start())
        self.child.send(task.command)
        return False

    def _finish_job(self, failure: str | None) -> None:
        job, self._job, self._next = self._job, None, None
        if job is not None:
            last = job.end(failure)
            if isinstance(job, SweepJob):
                self._end_sweep()
            self._job_ended(job)  # first, so that whoever hears the last event can start the next job
            for event in last:
                self._pass_on(event)

    def _find_worker(self, job: Job) -> None:
        """Take up the parked worker that the next task needs, or start one; finish a sweep without any."""
        if isinstance(job, SweepJob):  # a request that no worker could take up is to know so
            self._next = self._next or job.next_task()
            if self._next is None:
                self._finish_job(None)
                return
            self._ahead = self._next.ahead
        self._take_up()
        if self.child is None:
            self.child = self._make_child(self._emit, self._ahead)
            self._state, self._deadline = "starting", time.monotonic() + START_S
        self._tell_beside()

    def _take_up(self) -> None:
        """Have the parked worker of this folder be the one that measures, if there is one."""
        self.child, self._retiring = self._pool.take(self._ahead), False
        if self.child is not None:
            self._state = "idle"

    def _rest(self) -> None:
        """The worker waits for what it is to do, which may be there."""
        self._state, self._deadline = "idle", None
        self._tell_beside()
        self._advance()

    def _park(self) -> None:
        """Have the worker give back what it holds, so that another can measure."""
        if self.child is not None:
            self._state, self._deadline = "parking", time.monotonic() + PARK_S
            self.child.send(Park())

    def _parked(self, message: Parked) -> None:
        """The worker holds no more than it must; it stays if nothing needs another by now."""
        if self._state != "parking":
            return
        if self.child is None or self._next is None:
            self._retiring = False
            self._rest()
        elif self._retiring:
            self._leave(ask=True)
        else:
            self._pool.park(self._ahead, self.child, message.pid)
            self.child, self._state, self._deadline = None, "absent", None
            self._advance()

    def _tell_beside(self) -> None:
        """Tell the worker which processes on the GPU are parked workers."""
        if self.child is not None and self._state != "starting":
            self.child.send(Beside(pids=self._pool.on_gpu))

    def _end_sweep(self) -> None:
        """Keep the usual worker alone: those of folders hold memory that others may want."""
        if self._ahead:
            self._leave(ask=True)
            self._ahead = ""
            self._take_up()
        self._pool.leave_all()
        self._tell_beside()

    def _leave(self, *, ask: bool) -> None:
        child, self.child = self.child, None
        self._state, self._deadline = "absent", None
        if child is not None:
            self._pool.leave(child, ask=ask)


def _last_of(child: Child) -> str:
    """The last that a child printed, which is what ended it where Python could tell; empty: nothing."""
    said = next((line for line in reversed(child.lines) if line.strip()), "")
    return f": {said.strip().rstrip('.')}" if said else ""
