"""The engine of this machine: a worker and a telemetry child, driven from one thread."""

import time
from collections.abc import Callable
from multiprocessing import Pipe, connection
from queue import SimpleQueue
from threading import Semaphore, Thread

from kernels.problem import Backend
from kernels.trace import TraceRequest
from profiles.engine import EngineBusyError, Sink
from profiles.events import Event, MachineFound
from profiles.jobs import Job, SweepJob, probe_job, trace_job
from profiles.plan import Plan
from profiles.runner import Runner
from profiles.specs import load_kernels
from profiles.watcher import Watcher


class LocalEngine:
    """Runs plans on this machine; implements profiles.engine.Engine.

    Args:
        sink: Takes every event, in order, on the engine's thread; it must return soon and not raise.
        kernels: `module:NAME` of the tuple of KernelSpec that plans may name; each child imports it.
    """

    def __init__(self, sink: Sink, kernels: str = "kernels.registry:KERNELS") -> None:
        self._sink = sink
        self._specs = load_kernels(kernels)
        self._free = Semaphore(1)
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._wake, self._waker = Pipe(duplex=False)
        self._runner = Runner(self._emit, kernels, self._job_ended)
        self._watcher = Watcher(self._emit)
        self._wanted: Backend | None = None  # to be watched once the machine is known
        self._closing = False
        self._thread = Thread(target=self._drive, name="engine")
        self._thread.start()

    def probe(self) -> None:
        """Look at this machine, after what already runs; answers with MachineFound."""
        self._post(lambda: self._runner.submit(probe_job()))

    def watch(self, backend: Backend) -> None:
        """Start streaming telemetry of a backend's device, as soon as a probe has found it."""
        self._post(lambda: self._watch(backend))

    def run(self, plan: Plan) -> None:
        """Start a sweep; an unknown machine is probed first.

        Raises:
            EngineBusyError: A sweep or a trace is running.
            KeyError: The plan names a kernel that is not among `kernels`.
        """
        self._submit_exclusive(SweepJob(plan, self._specs))

    def trace(self, request: TraceRequest) -> None:
        """Record one trace; answers with TraceReady or RequestFailed.

        Raises:
            EngineBusyError: A sweep or a trace is running.
        """
        self._submit_exclusive(trace_job(request))

    def cancel(self) -> None:
        """Stop the sweep or trace within one repeat; a kernel that hangs is killed after 2 s."""
        self._post(self._runner.cancel)

    def close(self) -> None:
        """End every child (ask, terminate, kill, 2 s each) and wait for them; closing twice does nothing."""
        self._post(self._stop)
        self._thread.join()
        self._wake.close()
        self._waker.close()

    def _submit_exclusive(self, job: Job) -> None:
        if not self._free.acquire(blocking=False):
            raise EngineBusyError("A sweep or a trace is already running; cancel it or wait for its end.")
        self._post(lambda: self._runner.submit(job))

    def _post(self, action: Callable[[], None]) -> None:
        """Have the engine's thread do something; after `close` nothing is done."""
        self._inbox.put(action)
        if self._thread.is_alive() and not self._waker.closed:
            self._waker.send_bytes(b"")

    # Everything below runs on the engine's thread.

    def _drive(self) -> None:
        """Wait for children, timers and calls, and serve them, until closed and childless."""
        supervised: tuple[Runner | Watcher, ...] = (self._runner, self._watcher)
        try:
            while not self._closing or any(s.child is not None for s in supervised):
                sources = [self._wake, *(w for s in supervised if s.child for w in s.child.waitables)]
                connection.wait(sources, _timeout(supervised))
                self._act()
                for one in supervised:
                    _serve(one)
        finally:  # a sink that raises must not leave orphans
            for child in (s.child for s in supervised if s.child):
                child.kill()

    def _act(self) -> None:
        """Do what was posted."""
        while self._wake.poll():
            self._wake.recv_bytes()
        while not self._inbox.empty():
            self._inbox.get()()

    def _emit(self, event: Event) -> None:
        self._sink(event)
        if isinstance(event, MachineFound) and self._wanted is not None:
            backend, self._wanted = self._wanted, None
            self._watch(backend)

    def _watch(self, backend: Backend) -> None:
        machine = self._runner.machine
        if machine is None:
            self._wanted = backend
            self._runner.probe_unless_probing()
            return
        device = machine.device(backend)
        self._watcher.watch(backend, device.uuid if device else None)

    def _job_ended(self, job: Job) -> None:
        if job.exclusive:
            self._free.release()

    def _stop(self) -> None:
        self._closing = True
        self._runner.stop()
        self._watcher.stop()


def _serve(supervised: Runner | Watcher) -> None:
    """Take in what a child has said, printed or done, and act on timers."""
    child = supervised.child
    if child is not None:
        ended = not child.alive  # asked first: what it said before its end is then complete
        child.read_output()
        for message in child.messages():
            supervised.receive(message)
        if ended:
            child.finish()
            supervised.exited(child)
        else:
            child.tick()
    supervised.tick()


def _timeout(supervised: tuple[Runner | Watcher, ...]) -> float | None:
    """Seconds until the next timer, None when there is none."""
    dues = [s.due for s in supervised] + [s.child.due for s in supervised if s.child]
    soonest = min((d for d in dues if d is not None), default=None)
    return None if soonest is None else max(0.0, soonest - time.monotonic())
