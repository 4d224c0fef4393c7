"""The engine of several devices: a plan is shared among them, and they speak with one voice."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from threading import Semaphore, Thread

from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.cluster.equal import obstacle_to_sharing
from flashscope.profiles.cluster.own_code import untrusted
from flashscope.profiles.cluster.shared_run import SharedDevice, SharedRun, telemetry_of
from flashscope.profiles.engine.contract import SWEEP_RUNS, Engine, EngineBusyError, EngineFactory, Sink
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import (
    Event,
    LogLine,
    MachineFound,
    PlanFinished,
    Readings,
    RequestFailed,
    TelemetryStarted,
)


class SeveralEngine:
    """Shares plans among devices, each with an engine; implements profiles.engine.contract.Engine.

    The points of a problem are measured on one device, and the next problem by the device that is free. All
    else is asked of the first device.

    Args:
        sink: Takes every event, in order, on this engine's thread; it must return soon.
        makers: What makes the engine of each device, by what the device is called.

    Raises:
        ConnectError: One of the devices cannot be had; none is held.
    """

    def __init__(self, sink: Sink, makers: Sequence[tuple[str, EngineFactory]]) -> None:
        self._sink = sink
        self._free = Semaphore(1)
        self._inbox: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._members: list[SharedDevice] = []
        self._run: SharedRun | None = None
        self._probing: set[int] = set()
        self._then: Callable[[], None] | None = None  # waits for the machines to be known
        try:
            for device, (name, make) in enumerate(makers):
                self._members.append(SharedDevice(name, make(partial(self._hear, device))))
        except BaseException:
            self._close_all()
            raise
        self._thread = Thread(target=self._drive, name="several engines")
        self._thread.start()

    def probe(self) -> None:
        """Look at every device; answers with MachineFound, of the first, once all have answered."""
        self._inbox.put(self._probe)

    def watch(self, backend: Backend) -> None:
        """Start streaming telemetry of every device."""
        for member in self._members:
            member.engine.watch(backend)

    def run(self, plan: Plan, remaining: Remaining | None = None) -> None:
        """Start a sweep on all devices, or go on with what is left of one; unknown ones are probed first.

        Devices that are not equal are refused, and those that trust no code where the plan has some: the
        sweep ends as failed, before it begins.

        Raises:
            EngineBusyError: A sweep is running.
            KeyError: The plan names a kernel that there is not.
        """
        for name in plan.kernels:
            if name not in {own.name for own in plan.own}:
                find_kernel(name)
        if not self._free.acquire(blocking=False):
            raise EngineBusyError(SWEEP_RUNS)
        self._inbox.put(partial(self._begin, plan, remaining))

    def renew(self) -> None:
        """Have what is run next measured by fresh processes."""
        for member in self._members:
            member.engine.renew()

    def trace(self, request: TraceRequest) -> None:
        """Record one trace, on the first device."""
        self._first.trace(request)

    def backward_trace(self, request: BackwardTraceRequest) -> None:
        """Record the trace of a backward pass, on the first device."""
        self._first.backward_trace(request)

    def timeline(self, request: TimelineRequest) -> None:
        """Record one timeline, on the first device."""
        self._first.timeline(request)

    def give_up_timeline(self) -> None:
        """Stop a timeline; a sweep goes on."""
        self._first.give_up_timeline()

    def live(self, request: LiveRequest) -> None:
        """Launch in slow motion, on the first device."""
        self._first.live(request)

    def give_up_live(self) -> None:
        """End a launch in slow motion; a sweep goes on."""
        self._first.give_up_live()

    def stalls(self, request: StallRequest) -> None:
        """Sample where the warps of one launch stand, on the first device."""
        self._first.stalls(request)

    def give_up_stalls(self) -> None:
        """Stop sampling; a sweep goes on."""
        self._first.give_up_stalls()

    def cancel(self) -> None:
        """Stop the sweep on every device within one repeat; the points measured so far are kept."""
        self._inbox.put(self._cancel)

    def close(self) -> None:
        """Give every device back, and wait for that; twice does nothing."""
        self._inbox.put(self._cancel)
        self._close_all()
        self._inbox.put(None)
        self._thread.join()

    @property
    def _first(self) -> Engine:
        return self._members[0].engine

    def _close_all(self) -> None:
        """At the same time, as each takes seconds."""
        if self._members:
            with ThreadPoolExecutor(len(self._members)) as pool:
                list(pool.map(lambda member: member.engine.close(), self._members))

    def _hear(self, device: int, event: Event) -> None:
        """An engine said something; called on its thread."""
        self._inbox.put(partial(self._take, device, event))

    # Everything below runs on this engine's thread.

    def _drive(self) -> None:
        while (action := self._inbox.get()) is not None:
            action()

    def _probe(self) -> None:
        self._probing = set(range(len(self._members)))
        for member in self._members:
            member.engine.probe()

    def _begin(self, plan: Plan, remaining: Remaining | None) -> None:
        machines = [member.machine for member in self._members]
        if None in machines:
            self._then = partial(self._begin, plan, remaining)
            self._probe()
            return
        known = [(one.name, one.machine) for one in self._members if one.machine is not None]
        if refused := obstacle_to_sharing(known, plan.backend):
            self._refuse(refused)
            return
        if plan.own and (wary := [one.name for one in self._members if not one.trusts_code]):
            self._refuse(untrusted(" and ".join(wary), plan.own))
            return
        self._run = SharedRun(plan, remaining, self._members, self._emit)
        self._run.begin()

    def _refuse(self, reason: str) -> None:
        """A sweep that does not begin."""
        self._emit(PlanFinished(t_ns=0, outcome="failed", reason=reason))

    def _cancel(self) -> None:
        if self._run is not None and not self._run.ended:
            self._run.cancel()
        else:
            self._first.cancel()

    def _take(self, device: int, event: Event) -> None:
        member = self._members[device]
        if isinstance(event, LogLine):
            event = replace(event, source=f"{member.name}, {event.source}")
        if isinstance(event, TelemetryStarted):
            member.telemetry = event
            if (telemetry := telemetry_of(self._members)) is not None:
                self._emit(telemetry)
        elif isinstance(event, MachineFound):
            member.machine, member.trusts_code = event.machine, event.trusts_code
            self._probed(device)
        elif isinstance(event, RequestFailed) and event.request == "probe":
            self._not_probed(event)
        elif self._run is not None and not self._run.ended:
            self._run.heard(device, event)
        elif device == 0 or not isinstance(event, Readings | PlanFinished):
            self._emit(event)

    def _probed(self, device: int) -> None:
        if device not in self._probing:
            return
        self._probing.discard(device)
        first = self._members[0].machine
        if not self._probing and first is not None:
            trusts_code = all(member.trusts_code for member in self._members)
            self._emit(MachineFound(machine=first, trusts_code=trusts_code))
            self._go_on()

    def _not_probed(self, event: RequestFailed) -> None:
        """One of the devices was lost before it was looked at: nothing is measured without it."""
        if not self._probing:
            return
        self._probing.clear()
        self._emit(event)
        if self._then is not None:
            self._then = None
            self._refuse(event.reason)

    def _go_on(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            then()

    def _emit(self, event: Event) -> None:
        if isinstance(event, PlanFinished):
            self._free.release()  # first, so that whoever hears it can start the next sweep
        self._sink(event)
