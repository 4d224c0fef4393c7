"""The engine of this machine: workers and a telemetry child, driven from one thread."""

import os
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import Pipe, connection
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any

from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine.child import Child
from flashscope.profiles.engine.children import SpawnedChild
from flashscope.profiles.engine.contract import SWEEP_RUNS, EngineBusyError, Sink, Working
from flashscope.profiles.engine.jobs import (
    Job,
    LiveJob,
    StallsJob,
    SweepJob,
    TimelineJob,
    backward_trace_job,
    live_job,
    probe_job,
    stalls_job,
    timeline_job,
    trace_job,
)
from flashscope.profiles.engine.line_kinds import start_lines
from flashscope.profiles.engine.supervisor import Supervisor
from flashscope.profiles.engine.watcher import Watcher
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.specs import import_specs
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.clock import shifted
from flashscope.profiles.wire.events import (
    Event,
    LogLine,
    MachineFound,
    PlanResumed,
    PlanStarted,
    RequestFailed,
)
from flashscope.profiles.wire.lines import LineKind

WORKER, TELEMETRY = (
    "flashscope.profiles.worker.serve:serve",
    "flashscope.profiles.worker.telemetry.serve:serve",
)


class LocalEngine:
    """Runs plans on this machine; implements profiles.engine.contract.Engine.

    Args:
        sink: Takes every event, in order, on the engine's thread; it must return soon. One that raises ends
            what runs, as any other failure on that thread does.
        kernels: `module:NAME` of the tuple of KernelSpec that plans may name; each child imports it.
        gpu: The UUID of the one GPU that its children see; empty: all of them.
    """

    def __init__(
        self, sink: Sink, kernels: str = "flashscope.kernels.catalogue.registry:KERNELS", gpu: str = ""
    ) -> None:
        self._sink, self.gpu = sink, gpu
        self._specs = import_specs(kernels)
        self._free = Semaphore(1)
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._wake, self._waker = Pipe(duplex=False)
        os.set_blocking(self._waker.fileno(), False)  # one that is full wakes well enough
        self._watcher = Watcher(self._emit, partial(SpawnedChild, "telemetry", TELEMETRY, "", gpu=gpu))
        self._supervisor = Supervisor(
            self._emit,
            partial(SpawnedChild, "worker", WORKER, kernels, gpu=gpu),
            self._job_ended,
            lambda: self._watcher.watching,
        )
        self._tracer = Supervisor(  # a trace on the CPU needs nothing of what a sweep measures
            self._emit,
            partial(SpawnedChild, "tracer", WORKER, kernels, gpu=gpu),
            self._job_ended,
            lambda: None,
        )
        self._supervised: tuple[Supervisor | Watcher, ...] = (self._supervisor, self._tracer, self._watcher)
        self._wanted: Backend | None = None  # to be watched once the machine is known
        self._closing = False
        self._ahead_ns = 0  # of this machine's clock, the session's
        self._thread = Thread(target=self._drive, name="engine")
        self._thread.start()

    def probe(self) -> None:
        """Look at this machine, after what already runs; answers with MachineFound."""
        self._post(lambda: self._supervisor.submit(probe_job()))

    def watch(self, backend: Backend) -> None:
        """Start streaming telemetry of a backend's device, as soon as a probe has found it."""
        self._post(lambda: self._watch(backend))

    def run(self, plan: Plan, remaining: Remaining | None = None) -> None:
        """Start a sweep, once a trace that is being recorded has ended; an unknown machine is probed first.

        A launch in slow motion is given up for it.

        From the begin of a session's later part on, all events go by the session's clock.

        Raises:
            EngineBusyError: A sweep is running.
            KeyError: The plan names a kernel that is not among `kernels`.
        """
        job = SweepJob(plan, self._specs, remaining)
        if not self._free.acquire(blocking=False):
            raise EngineBusyError(SWEEP_RUNS)
        self._post(lambda: self._begin(job))

    def renew(self) -> None:
        """Let the worker go, so that what is run next starts a fresh one; one that measures stays."""
        self._post(self._supervisor.renew)

    def trace(self, request: TraceRequest) -> None:
        """Record one trace; answers with TraceReady or RequestFailed.

        One on the CPU is recorded beside a sweep, in a worker of its own; one on the GPU waits for its turn.
        """
        self._submit_traced(trace_job(request), request.backend)

    def backward_trace(self, request: BackwardTraceRequest) -> None:
        """Record the trace of a backward pass, where and when one of a forward pass is.

        Answers with BackwardTraceReady or RequestFailed.
        """
        self._submit_traced(backward_trace_job(request), request.backend)

    def _submit_traced(self, job: Job, backend: Backend) -> None:
        if backend == "cpu":
            self._post(lambda: self._beside(lambda: self._tracer.submit(job)))
        else:
            self._post(lambda: self._supervisor.submit(job))

    def timeline(self, request: TimelineRequest) -> None:
        """Record one timeline, after what runs, as nothing else is to be measured beside it.

        Answers with TimelineProgress and then TimelineReady or RequestFailed.
        """
        self._post(lambda: self._supervisor.submit(timeline_job(request)))

    def give_up_timeline(self) -> None:
        """Stop a timeline after the round in flight, or while it waits; a sweep goes on."""
        self._post(lambda: self._supervisor.cancel(TimelineJob))

    def live(self, request: LiveRequest) -> None:
        """Launch in slow motion, after what runs; answers with LiveStarted, LiveTiles and then LiveEnded.

        RequestFailed stands for the last where it cannot be, or is given up.
        """
        self._post(lambda: self._supervisor.submit(live_job(request)))

    def give_up_live(self) -> None:
        """End a launch in slow motion between two tiles; a worker that does not is ended within a second."""
        self._post(lambda: self._supervisor.cancel(LiveJob))

    def stalls(self, request: StallRequest) -> None:
        """Sample where the warps of one launch stand, after what runs.

        Answers with StallsProgress and then StallsReady or RequestFailed.
        """
        self._post(lambda: self._supervisor.submit(stalls_job(request)))

    def give_up_stalls(self) -> None:
        """Stop sampling at once, or while it waits; a sweep goes on."""
        self._post(lambda: self._supervisor.cancel(StallsJob))

    def lines(
        self, kind: LineKind, asked: Sequence[Any], told: Callable[[Any], None], gpus: Sequence[str] = ()
    ) -> Working:
        """Start a process that answers in lines; whoever asks ends it, and it ends with this process."""
        self.renew()
        seen = gpus or tuple(filter(None, (self.gpu,)))
        return start_lines(kind, asked, told, seen, lambda line: self._post(lambda: self._emit(line)))

    def cancel(self) -> None:
        """Stop the sweep, timelines and traces on the GPU within one repeat.

        A kernel that hangs is killed after 2 s.
        """
        self._post(self._supervisor.cancel)

    def close(self) -> None:
        """End every child (ask, terminate, kill, 2 s each) and wait for them; closing twice does nothing."""
        self._post(self._stop)
        self._thread.join()
        self._wake.close()
        self._waker.close()

    def _post(self, action: Callable[[], None]) -> None:
        """Have the engine's thread do something; after `close` nothing is done."""
        self._inbox.put(action)
        if self._thread.is_alive() and not self._waker.closed:
            with suppress(BlockingIOError):
                self._waker.send_bytes(b"")

    # Everything below runs on the engine's thread.

    def _begin(self, sweep: SweepJob) -> None:
        self._supervisor.cancel(LiveJob)
        self._supervisor.submit(sweep)

    @property
    def _children(self) -> list[Child]:
        return [child for s in self._supervised for child in s.children]

    def _drive(self) -> None:
        """Wait for children, timers and calls, and serve them, until closed and childless."""
        try:
            while not self._closing or self._children:
                failure = self._turn()
                if failure is not None:
                    self._break_off(self._supervised, *failure)
        finally:  # a sink that raises whatever it is told must not leave orphans
            for child in self._children:
                child.kill()

    def _turn(self) -> tuple[str, str] | None:
        """Serve what there is to serve; what could not be done, and the details.

        They are texts, because an exception holds on to what it came from: pipes of a half-started child.
        """
        try:
            sources = [self._wake, *(w for child in self._children for w in child.waitables)]
            if self._inbox.empty():  # an action that failed may have left others behind
                connection.wait(sources, _timeout(self._supervised))
            self._act()
            _serve(self._supervisor)
            self._beside(lambda: _serve(self._tracer))
            _serve(self._watcher)
        except Exception as error:  # noqa: BLE001 - whatever it is, who waits for an answer is to get one
            return _told(error, "start the sweep again")
        return None

    def _beside(self, act: Callable[[], None]) -> None:
        """Do something for a trace beside the sweep, which does not end when that fails."""
        try:
            act()
        except Exception as error:  # noqa: BLE001 - whatever it is, the sweep goes on
            failure = _told(error, "choose the trace again")
        else:
            return
        self._break_off((self._tracer,), *failure)

    def _break_off(self, ended: tuple[Supervisor | Watcher, ...], reason: str, detail: str) -> None:
        """End what these do, so that they can start anew."""
        for one in ended:
            for child in one.children:
                child.kill()
        if self._watcher in ended and self._wanted is not None:
            self._wanted = None
            self._emit(RequestFailed(request="watch", reason=reason))
        for line in detail.splitlines():
            self._emit(LogLine(source="engine", text=line, level="debug"))
        for one in ended:
            one.break_off(reason)

    def _act(self) -> None:
        """Do what was posted; what is started for it while the others end would have nobody end it."""
        while self._wake.poll():
            self._wake.recv_bytes()
        while not self._inbox.empty():
            action = self._inbox.get()
            if not self._closing:
                action()

    def _emit(self, event: Event) -> None:
        if isinstance(event, PlanStarted | PlanResumed):
            self._ahead_ns = event.t_ns - time.monotonic_ns() if isinstance(event, PlanResumed) else 0
        self._sink(shifted(event, self._ahead_ns))
        if isinstance(event, MachineFound) and self._wanted is not None:
            backend, self._wanted = self._wanted, None
            self._watch(backend)

    def _watch(self, backend: Backend) -> None:
        machine = self._supervisor.machine
        if machine is None:
            self._wanted = backend
            self._supervisor.probe_unless_probing()
            return
        device = machine.device(backend)
        self._watcher.watch(backend, device.uuid if device else None)

    def _job_ended(self, job: Job) -> None:
        if isinstance(job, SweepJob):
            self._free.release()

    def _stop(self) -> None:
        self._closing = True
        self._supervisor.stop()
        self._tracer.stop()
        self._watcher.stop()


def _told(error: Exception, remedy: str) -> tuple[str, str]:
    """An error in a sentence, and its details."""
    said = " ".join(str(error).split())
    reason = f"The engine could not go on ({type(error).__name__}: {said}); {remedy}."
    return reason, "".join(traceback.format_exception(error))


def _serve(supervised: Supervisor | Watcher) -> None:
    """Take in what children have said, printed or done, and act on timers."""
    for child in supervised.children:
        ended = not child.alive  # asked first: what it said before its end is then complete
        child.read_output()
        for message in child.messages():
            if child is supervised.child:  # what is still said by one that is parked or to end is of no use
                supervised.receive(message)
        if ended:
            child.finish()
            supervised.exited(child)
        else:
            child.tick()
    supervised.tick()


def _timeout(supervised: tuple[Supervisor | Watcher, ...]) -> float | None:
    """Seconds until the next timer, None when there is none."""
    dues = [s.due for s in supervised] + [child.due for s in supervised for child in s.children]
    soonest = min((d for d in dues if d is not None), default=None)
    return None if soonest is None else max(0.0, soonest - time.monotonic())
