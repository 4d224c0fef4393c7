"""Several devices, each with an engine, of which the first does all that is no sweep."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any

from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.cluster.lines import LineAnswers
from flashscope.profiles.cluster.several.shared_run import SharedDevice
from flashscope.profiles.engine.beginning import check_kernels
from flashscope.profiles.engine.contract import (
    SWEEP_RUNS,
    Engine,
    EngineBusyError,
    EngineFactory,
    Sink,
    Working,
)
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import Event, PlanFinished
from flashscope.profiles.wire.lines import LineKind


class FirstOfSeveral:
    """What engines of several devices have in common; what a sweep is to them, each says itself.

    Args:
        sink: Takes every event, in order, on this engine's thread; it must return soon.
        makers: What makes the engine of each device, by what the device is called.

    Raises:
        ConnectError: One of the devices cannot be had; none is held.
    """

    def __init__(self, sink: Sink, makers: Sequence[tuple[str, EngineFactory]]) -> None:
        self._sink = sink
        self._answers: LineAnswers | None = None  # of the last process that answers in lines
        self._free = Semaphore(1)
        self._inbox: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._members: list[SharedDevice] = []
        try:
            for device, (name, make) in enumerate(makers):
                self._members.append(SharedDevice(name, make(partial(self._hear, device))))
        except BaseException:
            self._close_all()
            raise
        self._thread = Thread(target=self._drive, name="several engines")
        self._thread.start()

    def watch(self, backend: Backend) -> None:
        """Start streaming telemetry of every device."""
        for member in self._members:
            member.engine.watch(backend)

    def run(self, plan: Plan, remaining: Remaining | None = None) -> None:
        """Start a sweep on all devices, or go on with what is left of one.

        Raises:
            EngineBusyError: A sweep is running.
            KeyError: The plan names a kernel that there is not.
        """
        check_kernels(plan)
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

    def lines(
        self, kind: LineKind, asked: Sequence[Any], told: Callable[[Any], None], gpus: Sequence[str] = ()
    ) -> Working:
        """Start a process that answers in lines, by the first device; it sees the GPUs of all."""
        self.renew()
        own = tuple(member.engine.gpu for member in self._members if member.engine.gpu)
        self._answers = LineAnswers(kind, len(asked), told)
        return self._first.lines(kind, asked, self._answers.tell, gpus or own)

    def lose(self, reason: str) -> None:
        """One of the devices is lost, and with it what a process of all of them does; from any thread."""
        if self._answers is not None:
            self._answers.lose(reason)

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
    def gpu(self) -> str:
        """None of several is the one."""
        return ""

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

    def _begin(self, plan: Plan, remaining: Remaining | None) -> None:
        """Start a sweep."""
        raise NotImplementedError

    def _cancel(self) -> None:
        """Stop what runs."""
        raise NotImplementedError

    def _take(self, device: int, event: Event) -> None:
        """An engine said something."""
        raise NotImplementedError

    def _emit(self, event: Event) -> None:
        if isinstance(event, PlanFinished):
            self._free.release()  # first, so that whoever hears it can start the next sweep
        self._sink(event)
