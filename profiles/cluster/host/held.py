"""The engine that a host holds for a client: what it says waits until the client has taken it."""

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from flashscope.profiles.cluster.calls import (
    Ask,
    Attach,
    EndLines,
    EngineRequest,
    EventBatch,
    GiveUp,
    LineSaid,
    OwnRequest,
    PassedOn,
    Refused,
    Renew,
    RunPlan,
    StartLines,
    WatchBackend,
)
from flashscope.profiles.cluster.lines import HeldLines
from flashscope.profiles.cluster.own_code import obstacle_to_taking
from flashscope.profiles.engine.contract import Engine, EngineBusyError, EngineFactory
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import Event
from flashscope.profiles.wire.messages import (
    Cancel,
    ProbeMachine,
    RecordBackwardTrace,
    RecordStalls,
    RecordTimeline,
    RecordTrace,
    RunLive,
)

MOST_EVENTS = 500  # of one batch
STARVED_REMEDY = "End what that machine has no need of, and ask again."


class HeldEngine:
    """One engine, for one client; used from the host's event loop, but for what the engine says.

    Args:
        attach: What the client said of itself.
        make_engine: Makes the engine.
        wake: Called, on the engine's thread, when there is something to take.
        device: What the host calls what it measures on.
        trusts_code: Whether kernels run here that the client sends.

    Attributes:
        holder: Who has it.
        token: What the client names it by.
        heard: When the client was last heard (time.monotonic).
    """

    def __init__(
        self,
        attach: Attach,
        make_engine: EngineFactory,
        wake: Callable[[], None],
        device: str,
        *,
        trusts_code: bool = False,
    ) -> None:
        self.holder = attach.holder
        self.token = secrets.token_hex(16)
        self.heard = time.monotonic()
        self._wake, self._device, self._trusts_code = wake, device, trusts_code
        self._lock = threading.Lock()
        self._events: deque[Event | LineSaid] = deque()
        self._first = 0  # the number of the first of these
        self._last_asked = -1
        self._last_answer: PassedOn | Refused = PassedOn()
        self._engine = make_engine(self._take)
        self._lines = HeldLines(self._engine, self._take)

    def ask(self, ask: Ask) -> PassedOn | Refused:
        """Pass on what is asked for, once; what comes again, its answer lost, is answered as before."""
        if ask.number > self._last_asked:
            self._last_asked = ask.number
            self._last_answer = self._passed_on(ask.asked)
        return self._last_answer

    def _passed_on(self, asked: EngineRequest) -> PassedOn | Refused:
        if isinstance(asked, RunPlan) and (
            why := obstacle_to_taking(asked.plan, self._device, trusts_code=self._trusts_code)
        ):
            return Refused(reason=why)
        try:
            self._do(asked)
        except (EngineBusyError, KeyError) as error:
            return Refused(reason=str(error))
        except OSError as error:
            return Refused(reason=f"{self._device} can start no process ({error}). {STARVED_REMEDY}")
        return PassedOn()

    def waiting(self, first: int, most: int | None = MOST_EVENTS) -> EventBatch:
        """The events from this number on, so many at most; those before are forgotten."""
        with self._lock:
            while self._first < first and self._events:
                self._events.popleft()
                self._first += 1
            return EventBatch(events=tuple(islice(self._events, most)))

    def close(self) -> None:
        """End the engine and its children, and wait for them; from any thread."""
        self._lines.close()
        self._engine.close()

    def _do(self, asked: EngineRequest) -> None:
        match asked:
            case StartLines():
                self._lines.start(asked)
            case EndLines(number=number):
                self._lines.end(number)
            case _:
                _pass_on(self._engine, asked)

    def _take(self, event: Event | LineSaid) -> None:
        with self._lock:
            self._events.append(event)
        self._wake()


def _pass_on(engine: Engine, asked: OwnRequest) -> None:
    match asked:
        case ProbeMachine():
            engine.probe()
        case WatchBackend(backend=backend):
            engine.watch(backend)
        case RunPlan():
            engine.run(asked.plan, _as_late(asked))
        case Renew():
            engine.renew()
        case Cancel():
            engine.cancel()
        case GiveUp(what=what):
            getattr(engine, f"give_up_{what}")()
        case _:
            _request(engine, asked)


def _as_late(asked: RunPlan) -> Remaining | None:
    """What remains, later by the time that the way here took."""
    if asked.remaining is None or asked.at_ns is None:
        return asked.remaining
    way_ns = max(0, time.monotonic_ns() - asked.at_ns)
    return replace(asked.remaining, t_ns=asked.remaining.t_ns + way_ns)


def _request(
    engine: Engine, asked: RecordTrace | RecordBackwardTrace | RecordTimeline | RunLive | RecordStalls
) -> None:
    match asked:
        case RecordTrace(request=trace):
            engine.trace(trace)
        case RecordBackwardTrace(request=backward):
            engine.backward_trace(backward)
        case RecordTimeline(request=timeline):
            engine.timeline(timeline)
        case RunLive(request=live):
            engine.live(live)
        case RecordStalls(request=stalls):
            engine.stalls(stalls)
