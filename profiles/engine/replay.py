"""A recorded session as an engine: its events again, at the pace they came, without any device."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from queue import Empty, SimpleQueue
from threading import Semaphore, Thread

from msgspec.structs import replace

from kernels.problem import Backend
from kernels.trace import TraceRequest
from profiles.engine.contract import EngineBusyError, Sink
from profiles.plan.plan import Plan
from profiles.results.session import PointState, Session
from profiles.wire.events import (
    Event,
    FailedStatus,
    MachineFound,
    PlanFinished,
    PlanStarted,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    Readings,
    RequestFailed,
    SamplingStarted,
    TraceReady,
)

Timed = tuple[int, Event]
BATCH_NS = 100_000_000  # readings are sent again in batches of this span


class ReplayEngine:
    """Re-emits a session; implements profiles.engine.contract.Engine.

    Every event keeps its recorded `t_ns`, the session its id.

    Args:
        sink: Takes every event, in order, on the engine's thread.
        session: What was recorded.
        speed: Recorded seconds that pass in one second; infinity: as fast as the sink takes them.
    """

    def __init__(self, sink: Sink, session: Session, speed: float = 1.0) -> None:
        if not speed > 0:
            raise ValueError(f"the speed of a replay must be above 0, not {speed}")
        self._sink, self._session, self._speed = sink, session, speed
        self._free = Semaphore(1)
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._script: deque[Timed] = deque()
        self._due = 0.0  # when the next event of the script is said, time.monotonic
        self._now_ns = session.t0_ns  # how far the recording has been played
        self._in_flight: set[int] = set()
        self._playing = False
        self._closed = False
        self._thread = Thread(target=self._drive, name="replay")
        self._thread.start()

    def probe(self) -> None:
        """Answer with the machine that recorded the session."""
        self._inbox.put(lambda: self._sink(MachineFound(machine=self._session.machine)))

    def watch(self, backend: Backend) -> None:
        """Recorded telemetry comes with the sweep; a backend without any is answered with RequestFailed."""
        if backend != self._session.backend or self._session.telemetry is None:
            reason = f"The recording holds no telemetry of the {backend} backend."
            self._inbox.put(lambda: self._sink(RequestFailed(request="watch", reason=reason)))

    def run(self, plan: Plan) -> None:  # noqa: ARG002 - a recording can only repeat its own plan
        """Replay the recorded sweep; the plan given is not looked at.

        Raises:
            EngineBusyError: It is being replayed already.
        """
        if not self._free.acquire(blocking=False):
            raise EngineBusyError("The recording is already being replayed; cancel it or wait for its end.")
        self._inbox.put(self._begin)

    def trace(self, request: TraceRequest) -> None:
        """Answer with the recorded trace of exactly this request, or with RequestFailed."""
        recorded = next((t for t in self._session.traces if t.request == request), None)
        reason = "The recording holds no such trace; choose one that it holds or a live backend."
        answer: Event = (
            RequestFailed(request="trace", reason=reason) if recorded is None else TraceReady(trace=recorded)
        )
        self._inbox.put(lambda: self._sink(answer))

    def cancel(self) -> None:
        """Stop the replay at once."""
        self._inbox.put(self._cancel)

    def close(self) -> None:
        """Stop the replay and end the thread; closing twice does nothing."""
        self._inbox.put(self._stop)
        self._thread.join()

    # Everything below runs on the engine's thread.

    def _drive(self) -> None:
        """Do what is asked for, and say the next recorded event whenever its time has come."""
        while not self._closed:
            wait = max(0.0, self._due - time.monotonic()) if self._script else None
            try:
                action = self._inbox.get(timeout=wait)
            except Empty:
                action = self._say_next
            try:
                action()
            except Exception as error:  # noqa: BLE001 - a replay that waits for its end is to see one
                self._break_off(error)

    def _begin(self) -> None:
        self._playing = True
        self._script.extend(script(self._session))
        self._due, self._now_ns, self._in_flight = time.monotonic(), self._session.t0_ns, set()

    def _say_next(self) -> None:
        t_ns, event = self._script.popleft()
        self._now_ns = max(self._now_ns, t_ns)
        if self._script:
            self._due += max(0, self._script[0][0] - self._now_ns) / 1e9 / self._speed
        else:
            self._end()  # first, so that whoever hears the last event can start again
        if isinstance(event, PointStarted):
            self._in_flight.add(event.index)
        elif isinstance(event, PointMeasured | PointFailed):
            self._in_flight.discard(event.index)
        self._sink(event)

    def _cancel(self) -> None:
        """Drop the rest of the script; the points in flight end as cancelled."""
        if not self._script:
            return
        self._script.clear()
        reason = "The replay was cancelled."
        for index in sorted(self._in_flight):
            self._sink(PointFailed(index=index, t_ns=self._now_ns, status="cancelled", reason=reason))
        self._end()
        self._sink(PlanFinished(t_ns=self._now_ns, outcome="cancelled"))

    def _break_off(self, error: Exception) -> None:
        self._script.clear()
        self._end()
        reason = f"The replay could not go on ({type(error).__name__}: {error})."
        self._sink(PlanFinished(t_ns=self._now_ns, outcome="failed", reason=reason))

    def _end(self) -> None:
        if self._playing:
            self._playing = False
            self._free.release()

    def _stop(self) -> None:
        self._cancel()
        self._closed = True


def script(session: Session) -> Iterator[Timed]:
    """The events that rebuild a session, each with its time, oldest first.

    A session whose writer was killed ends as `failed`, and so do the points it was on.
    """
    start = session.t0_ns
    opening = PlanStarted(
        session_id=session.id,
        plan=session.plan,
        machine=session.machine,
        started_at=session.started_at,
        t_ns=start,
        predicted_bytes=tuple(s.predicted_bytes for s in session.points),
        telemetry=session.telemetry,
    )
    yield start, opening
    body = [
        *_readings(session),
        *_samplings(session),
        *(timed for s in session.points for timed in _point(s)),
    ]
    body.sort(key=itemgetter(0))  # stable: a point's end stays before the next one's start
    yield from body
    end = max([start, session.ended_ns or 0, *(t for t, _ in body)])
    for trace in session.traces:
        yield end, TraceReady(trace=trace)
    yield end, _ending(session, end)


def _ending(session: Session, t_ns: int) -> PlanFinished:
    """The end as it was recorded, also where readings came later; of a torn recording the last moment."""
    if session.outcome is None:
        return PlanFinished(t_ns=t_ns, outcome="failed", reason="The recording was interrupted here.")
    return PlanFinished(t_ns=session.ended_ns or t_ns, outcome=session.outcome)


def _readings(session: Session) -> Iterator[Timed]:
    """Telemetry in batches, each at the time of its last reading."""
    for _, group in groupby(session.readings, lambda r: r.t_ns // BATCH_NS):
        batch = tuple(group)
        yield batch[-1].t_ns, Readings(readings=batch)


def _samplings(session: Session) -> Iterator[Timed]:
    """When sampling began, once for points that took turns."""
    together: dict[int, list[int]] = {}
    for state in session.points:
        if state.sampling_ns is not None:
            together.setdefault(state.sampling_ns, []).append(state.point.index)
    for t_ns, indices in together.items():
        yield t_ns, SamplingStarted(indices=tuple(indices), t_ns=t_ns)


def _point(state: PointState) -> Iterator[Timed]:
    """A point's start, its check and its end, those it had."""
    if state.started_ns is None:
        return
    index = state.point.index
    yield state.started_ns, PointStarted(index=index, t_ns=state.started_ns)
    ended = state.began_ns if state.ended_ns is None else state.ended_ns
    measured = state.measurement
    if measured is not None and state.status != "wrong":  # a wrong point's figures come with its end
        checked = ended if state.sampling_ns is None else state.sampling_ns
        tried = replace(measured, samples=())
        yield checked, PointChecked(index=index, t_ns=checked, measurement=tried, free_bytes=0)
    if measured is not None and state.status == "done":
        yield ended, PointMeasured(index=index, t_ns=ended, samples=measured.samples)
    else:
        yield ended, _failure(state, ended)


def _failure(state: PointState, t_ns: int) -> PointFailed:
    """How a point ended that is not done; one whose writer was killed has failed."""
    status: FailedStatus
    match state.status:
        case "pending" | "running" | "interrupted" | "altered" | "done":
            status = "failed"
        case known:
            status = known
    return PointFailed(
        index=state.point.index,
        t_ns=t_ns,
        status=status,
        reason=state.reason or "The recording was interrupted here.",
        detail=state.detail,
        measurement=state.measurement if status == "wrong" else None,
    )
