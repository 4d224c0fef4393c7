"""The engine that measures on another machine: what it is asked goes there, what happens there comes back."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from threading import Semaphore, Thread
from typing import Any

from msgspec.structs import replace

from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.cluster.calls import (
    Ask,
    EngineRequest,
    EventBatch,
    GiveUp,
    HostAnswer,
    HostCall,
    Leave,
    LineSaid,
    Pull,
    Refused,
    Renew,
    RunPlan,
    StartLines,
    WatchBackend,
)
from flashscope.profiles.cluster.client.clock import HostClock, clock_of
from flashscope.profiles.cluster.client.link import LinkError, SchedulerLink
from flashscope.profiles.cluster.client.taking import HeldDevice, taken
from flashscope.profiles.cluster.client.unanswered import Unanswered
from flashscope.profiles.cluster.connection import Connection
from flashscope.profiles.cluster.lines import FarLines, start_request
from flashscope.profiles.cluster.own_code import obstacle_to_sending, to_send
from flashscope.profiles.engine.beginning import check_kernels
from flashscope.profiles.engine.contract import SWEEP_RUNS, EngineBusyError, Sink
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import (
    Event,
    MachineFound,
    PlanFinished,
    PlanResumed,
    PlanStarted,
)
from flashscope.profiles.wire.lines import LineKind
from flashscope.profiles.wire.messages import (
    Cancel,
    ProbeMachine,
    RecordBackwardTrace,
    RecordStalls,
    RecordTimeline,
    RecordTrace,
    RunLive,
)

PATIENCE_S = 60.0  # that attempts may take, all in all, before the device is taken for lost
ATTEMPT_S = 30.0  # that one of them counts for at most: it takes longer where this machine sleeps meanwhile
PAUSE_S = 0.5  # between two attempts


class LostError(Exception):
    """The device is lost; the text says why, as a clause."""


class RemoteEngine:
    """Runs plans on a device of a host; implements profiles.engine.contract.Engine.

    Everything is measured by an engine there, with its own workers, deadlines and telemetry; its events are
    taken in order, and again where a connection broke. Where device, host or link are lost, every point in
    flight fails with the reason, and so does every request.

    Args:
        sink: Takes every event, in order, on the engine's thread; it must return soon.
        connection: Where the host is.
        device: What the host calls the device to take; empty: the first that is free.
        replaces: The token of an engine whose device was lost, which this one takes the place of.
        lost: Told once, on the engine's thread, that the device is lost, and why.

    Attributes:
        place: The device that it holds, or held.

    Raises:
        ConnectError: It cannot be reached, refuses, or has no device to lend.
    """

    def __init__(
        self,
        sink: Sink,
        connection: Connection,
        *,
        device: str = "",
        replaces: str = "",
        lost: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        self._sink, self._lost = sink, lost
        self._wanted, self._replaces = device, replaces
        self._free = Semaphore(1)
        self._unanswered = Unanswered()
        self._first = 0  # the number of the event to be taken next
        self._clock: HostClock | None = None
        self._lines: FarLines | None = None  # the last process that answers in lines
        self._line_numbers = count()
        self._plan: Plan | None = None  # that is run, without what is sent along
        self._loop = asyncio.new_event_loop()
        self._inbox: asyncio.Queue[EngineRequest | None] = asyncio.Queue()
        begun: Future[HeldDevice] = Future()
        self._thread = Thread(target=self._drive, args=(connection, begun), name="remote engine")
        self._thread.start()
        try:
            self.place = begun.result()
        except Exception:
            self._thread.join()
            raise

    def probe(self) -> None:
        """Look at the host's machine; answers with MachineFound."""
        self._post(ProbeMachine())

    def watch(self, backend: Backend) -> None:
        """Start streaming telemetry of a backend's device there."""
        self._post(WatchBackend(backend=backend))

    def run(self, plan: Plan, remaining: Remaining | None = None) -> None:
        """Start a sweep there, or go on with what is left of one.

        Raises:
            EngineBusyError: A sweep is running.
            KeyError: The plan names a kernel that there is not.
        """
        check_kernels(plan)
        if not self._free.acquire(blocking=False):
            raise EngineBusyError(SWEEP_RUNS)
        self._post(RunPlan(plan=plan, remaining=remaining, at_ns=time.monotonic_ns()))

    def renew(self) -> None:
        """Have what is run next measured by a fresh process there."""
        self._post(Renew())

    def trace(self, request: TraceRequest) -> None:
        """Record one trace; answers with TraceReady or RequestFailed."""
        self._post(RecordTrace(request=request))

    def backward_trace(self, request: BackwardTraceRequest) -> None:
        """Record the trace of a backward pass; answers with BackwardTraceReady or RequestFailed."""
        self._post(RecordBackwardTrace(request=request))

    def timeline(self, request: TimelineRequest) -> None:
        """Record one timeline; answers with TimelineProgress and then TimelineReady or RequestFailed."""
        self._post(RecordTimeline(request=request))

    def give_up_timeline(self) -> None:
        """Stop a timeline; a sweep goes on."""
        self._post(GiveUp(what="timeline"))

    def live(self, request: LiveRequest) -> None:
        """Launch in slow motion; answers with LiveStarted, LiveTiles and then LiveEnded or RequestFailed."""
        self._post(RunLive(request=request))

    def give_up_live(self) -> None:
        """End a launch in slow motion; a sweep goes on."""
        self._post(GiveUp(what="live"))

    def stalls(self, request: StallRequest) -> None:
        """Sample where the warps of one launch stand; answers with StallsReady or RequestFailed."""
        self._post(RecordStalls(request=request))

    def give_up_stalls(self) -> None:
        """Stop sampling; a sweep goes on."""
        self._post(GiveUp(what="stalls"))

    @property
    def gpu(self) -> str:
        """The UUID of the device; empty: it is no GPU."""
        return self.place.gpu

    def lines(
        self, kind: LineKind, asked: Sequence[Any], told: Callable[[Any], None], gpus: Sequence[str] = ()
    ) -> FarLines:
        """Start a process there that answers in lines, in place of one before it."""
        request = start_request(next(self._line_numbers), kind, asked, gpus)
        self._lines = FarLines(request, told, self._post)
        self._post(request)
        return self._lines

    def cancel(self) -> None:
        """Stop the sweep, or a timeline, within one repeat; the points measured so far are kept."""
        self._post(Cancel())

    def close(self) -> None:
        """Give the device back, with every child there ended, and wait for that; twice does nothing."""
        self._post(None)
        self._thread.join()

    def _post(self, asked: EngineRequest | None) -> None:
        with suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(self._inbox.put_nowait, asked)

    # Everything below runs on the engine's thread.

    def _drive(self, connection: Connection, begun: "Future[HeldDevice]") -> None:
        try:
            self._loop.run_until_complete(self._work(connection, begun))
        except Exception as error:
            if begun.done():
                raise
            begun.set_exception(error)  # whoever makes the engine waits for one or the other
        finally:
            self._loop.close()

    async def _work(self, connection: Connection, begun: "Future[HeldDevice]") -> None:
        link = SchedulerLink(connection)
        try:
            place = await taken(link, self._wanted, self._replaces)
            begun.set_result(place)
            await self._use(link, place)
        except LinkError as error:
            raise error.refusal from error
        finally:
            await link.close()

    async def _use(self, link: SchedulerLink, place: HeldDevice) -> None:
        """Ask and listen until closed; what is asked once the device is lost is answered with why."""
        both = [asyncio.create_task(self._ask(link, place)), asyncio.create_task(self._listen(link, place))]
        done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for one in both:
            one.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        error = next((error for one in done if (error := one.exception()) is not None), None)
        if error is None:
            await self._leave(link, place)
            return
        reason = f"{place.called} at {link.address} is lost: {error}."
        self._answer_all(reason)
        self._lost(reason)
        if both[0] in done and both[0].exception() is None:  # closed in the same moment
            return
        while (asked := await self._inbox.get()) is not None:
            self._unanswered.asked(asked)
            self._answer_all(reason)

    async def _ask(self, link: SchedulerLink, place: HeldDevice) -> None:
        """Pass on what is asked for, in order, until closed."""
        number = 0
        while (asked := await self._inbox.get()) is not None:
            self._unanswered.asked(asked)
            if isinstance(asked, RunPlan):
                if (sent := self._to_send(asked, f"{place.called} at {link.address}")) is None:
                    continue
                asked = await self._by_its_clock(link, place, sent)
            answer = await self._answer(link, place, Ask(token=place.token, number=number, asked=asked))
            if isinstance(answer, Refused):
                self._refuse(asked, answer.reason)
            number += 1

    def _to_send(self, asked: RunPlan, where: str) -> RunPlan | None:
        """A run with the texts of the user's own kernels; None, and why is told: they may not be sent."""
        self._plan = asked.plan
        why = obstacle_to_sending(asked.plan, where, trusts_code=self.place.trusts_code)
        if not why:
            try:
                return replace(asked, plan=to_send(asked.plan))
            except InputError as error:
                why = str(error)
        self._refuse(asked, why)
        return None

    async def _by_its_clock(self, link: SchedulerLink, place: HeldDevice, asked: RunPlan) -> RunPlan:
        """A run with when it was asked for by the host's clock, which counts where a session goes on."""
        if asked.at_ns is None or asked.remaining is None:
            return replace(asked, at_ns=None)
        if self._clock is None or not self._clock.is_fresh:
            try:
                self._clock = await clock_of(link, place.worker)
            except LinkError:  # what is asked next says so, or finds the link again
                return replace(asked, at_ns=None)
            self._emit(self._clock.told_of(place.device, place.host))
        return replace(asked, at_ns=asked.at_ns + self._clock.ahead_ns)

    async def _listen(self, link: SchedulerLink, place: HeldDevice) -> None:
        """Take what happens there, for ever."""
        while True:
            answer = await self._answer(link, place, Pull(token=place.token, first=self._first))
            if isinstance(answer, EventBatch):
                self._take(answer)

    async def _leave(self, link: SchedulerLink, place: HeldDevice) -> None:
        with suppress(LinkError):  # the host gives the device back by itself, later
            answer = await link.call(place.worker, Leave(token=place.token, first=self._first))
            if isinstance(answer, EventBatch):
                self._take(answer)

    async def _answer(self, link: SchedulerLink, place: HeldDevice, call: HostCall) -> HostAnswer:
        """A call's answer, asked for again where the connection broke.

        Raises:
            LostError: The host does not know this engine any more, or is not to be reached.
        """
        broken_s = 0.0
        while True:
            begun = time.monotonic()
            try:
                answer = await link.call(place.worker, call)
            except LinkError as error:
                broken_s += min(time.monotonic() - begun, ATTEMPT_S) + PAUSE_S
                if error.final or broken_s > PATIENCE_S:
                    raise LostError(str(error)) from error
                await asyncio.sleep(PAUSE_S)
                continue
            if isinstance(answer, Refused) and answer.kind == "gone":
                raise LostError(answer.reason)
            return answer

    def _take(self, batch: EventBatch) -> None:
        for event in batch.events:
            self._first += 1
            if not isinstance(event, LineSaid):
                self._emit(self._named(event))
            elif self._lines is not None:
                self._lines.heard(event)

    def _named(self, event: Event) -> Event:
        """What tells of a machine, with its name and its libraries; a plan as it was asked for."""
        if isinstance(event, MachineFound | PlanStarted | PlanResumed):
            devices = tuple(replace(one, libraries=self.place.libraries) for one in event.machine.devices)
            event = replace(event, machine=replace(event.machine, host=self.place.host, devices=devices))
        if isinstance(event, MachineFound):
            return replace(event, trusts_code=self.place.trusts_code)
        if isinstance(event, PlanStarted) and self._plan is not None:
            return replace(event, plan=self._plan)
        return event

    def _refuse(self, asked: EngineRequest, reason: str) -> None:
        """Answer what is refused; all else goes on."""
        if (event := self._unanswered.refusal(asked, reason)) is not None:
            self._emit(event)
        elif isinstance(asked, StartLines) and self._lines is not None:
            self._lines.refused(asked, reason)

    def _answer_all(self, reason: str) -> None:
        for event in self._unanswered.answers(reason):
            self._emit(event)
        if self._lines is not None:
            self._lines.lose(reason)

    def _emit(self, event: Event) -> None:
        self._unanswered.heard(event)
        if isinstance(event, PlanFinished):
            self._free.release()  # first, so that whoever hears it can start the next sweep
        self._sink(event)
