"""A recorded session's events: what it was at every moment, and what came between two of them."""

import dataclasses
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from operator import attrgetter, itemgetter

from msgspec.structs import replace

from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.wire.events import (
    Attempt,
    AuditReady,
    BackwardTraceReady,
    CeilingsMeasured,
    Event,
    FailedStatus,
    LandscapeReady,
    PlanFinished,
    PlanResumed,
    PlanStarted,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    PointStatus,
    RanksReady,
    Readings,
    SamplingStarted,
    StallsReady,
    TimelineReady,
    TraceReady,
)

Timed = tuple[int, Event]
ENDS = (PointMeasured, PointFailed)


class RecordedEvents:
    """The events of a session that has ended, with their recorded times and the session's id.

    All times are ns of the session's clock.

    Args:
        session: What was recorded; it is not changed.

    Attributes:
        start_ns: The first moment, that of the plan's start.
        end_ns: The last moment, at which the session is whole.
        ends: When points ended, each moment once, rising.
    """

    def __init__(self, session: Session) -> None:
        self._recorded = session
        self.start_ns = session.t0_ns
        script = list(_script(session))
        self._times = list(accumulate((t for t, _ in script), max, initial=self.start_ns))[1:]
        self._events = [event for _, event in script]
        self.end_ns = self._times[-1]
        ends = (t for t, e in zip(self._times, self._events, strict=True) if isinstance(e, ENDS))
        self.ends = sorted(set(ends))

    def end_of(self, index: int) -> int | None:
        """When the point of this index ended, the last time that it did; None when it never began."""
        pairs = zip(reversed(self._times), reversed(self._events), strict=True)
        return next((t for t, e in pairs if isinstance(e, ENDS) and e.index == index), None)

    def at(self, t_ns: int) -> Session:
        """The session as it was at this moment, made anew: all that had come by then, and nothing else.

        What the user says of it is said of every moment.
        """
        recorded = self._recorded
        session = Session.begin(_opening(recorded))
        session.name, session.note = recorded.name, recorded.note
        session.tags, session.bookmarks = recorded.tags, recorded.bookmarks
        for event in self._until(self.start_ns - 1, t_ns):
            session.apply(event)
        return session

    def between(self, after_ns: int, until_ns: int) -> list[Event]:
        """What came after the one moment and until the other, in order; readings come as one batch, first."""
        return list(self._until(after_ns, until_ns))

    def all_events(self) -> list[Event]:
        """All of it, from the plan's start on, as it could be recorded again."""
        return [_opening(self._recorded), *self.between(self.start_ns - 1, self.end_ns)]

    def _until(self, after_ns: int, until_ns: int) -> Iterator[Event]:
        for device in (0, *self._recorded.beside):
            readings = self._recorded.readings_of(device)
            if readings := readings[self._read(device, after_ns) : self._read(device, until_ns)]:
                yield Readings(readings=tuple(readings), device=device)
        yield from self._events[bisect_right(self._times, after_ns) : bisect_right(self._times, until_ns)]

    def _read(self, device: int, t_ns: int) -> int:
        """How many readings of a device had come."""
        readings = self._recorded.readings_of(device)
        if t_ns < self.start_ns:
            return 0
        return len(readings) if t_ns >= self.end_ns else bisect_right(readings, t_ns, key=attrgetter("t_ns"))


def _opening(session: Session) -> PlanStarted:
    return PlanStarted(
        session_id=session.id,
        plan=session.plan,
        machine=session.machine,
        started_at=session.started_at,
        t_ns=session.t0_ns,
        predicted_bytes=tuple(s.predicted_bytes for s in session.planned),
        telemetry=session.telemetry,
        run_mark=session.run_mark,
        others=session.others,
    )


def _script(session: Session) -> Iterator[Timed]:
    """What happened after the opening, each with its time, oldest first; readings left out.

    A session whose writer was killed ends as `failed`, and so do the points it was on.
    """
    states = _repeated_in_their_parts(session)
    body = [*_parts(session), *_samplings(states), *(timed for state in states for timed in _point(state))]
    body.sort(key=itemgetter(0))  # stable: a point's end stays before the next one's start
    yield from body
    lanes = (session.readings, *session.beside.values())
    newest = [reading.t_ns for lane in lanes for reading in lane[-1:]]
    end = max([session.t0_ns, session.ended_ns or 0, *newest, *(t for t, _ in body)])
    for trace in session.traces:
        yield end, TraceReady(trace=trace)
    for timeline in session.timelines:
        yield end, TimelineReady(timeline=timeline)
    for profile in session.stalls:
        yield end, StallsReady(profile=profile)
    for landscape in session.landscapes:
        yield end, LandscapeReady(landscape=landscape)
    for audit in session.audits:
        yield end, AuditReady(audit=audit)
    for backward in session.backward_traces:
        yield end, BackwardTraceReady(trace=backward)
    for result in session.ranks:
        yield end, RanksReady(result=result)
    yield end, _ending(session, end)


def _ending(session: Session, t_ns: int) -> PlanFinished:
    """The end as it was recorded, also where readings came later; of a torn recording the last moment."""
    if session.outcome is None:
        return PlanFinished(t_ns=t_ns, outcome="failed", reason="The recording was interrupted here.")
    return PlanFinished(t_ns=session.ended_ns or t_ns, outcome=session.outcome)


def _repeated_in_their_parts(session: Session) -> list[PointState]:
    """Every point, a repeat without a time from before the part that made it, whatever the file says."""
    states = list(session.points)
    repeat = len(session.planned)
    for part in session.resumed:
        for index in range(repeat, repeat := repeat + len(part.repeats)):
            states[index] = _not_before(part.t_ns, states[index])
    return states


def _not_before(t_ns: int, state: PointState) -> PointState:
    began, sampled = (None if t is None else max(t, t_ns) for t in (state.started_ns, state.sampling_ns))
    return dataclasses.replace(state, started_ns=began, sampling_ns=sampled)


def _parts(session: Session) -> Iterator[Timed]:
    """What each later part measured anew, as it went before, then its begin; and every part's ceilings."""
    yield from _ceilings(session, 1, session.t0_ns)
    for part in session.resumed:
        for attempt in session.measured_anew(part):
            yield from _attempt(attempt, part)
        yield part.t_ns, part
        yield from _ceilings(session, part.part, part.t_ns)
    if session.resumed and session.telemetry is not None:
        yield session.resumed[-1].t_ns, session.telemetry


def _ceilings(session: Session, part: int, t_ns: int) -> Iterator[Timed]:
    """What the device reached at a part's begin, where that was measured."""
    if part in session.ceilings:
        yield t_ns, CeilingsMeasured(ceilings=session.ceilings[part])


def _attempt(one: Attempt, part: PlanResumed) -> Iterator[Timed]:
    """A point's start, and its end if it had one: who measured it may have been killed."""
    if one.started_ns is None or one.started_ns > part.t_ns:
        return
    yield one.started_ns, PointStarted(index=one.index, t_ns=one.started_ns)
    if one.ended_ns is not None:
        ended = min(max(one.started_ns, one.ended_ns), part.t_ns)
        status, reason, detail = _failed(one.status), one.reason, one.detail
        yield ended, PointFailed(index=one.index, t_ns=ended, status=status, reason=reason, detail=detail)


def _samplings(states: list[PointState]) -> Iterator[Timed]:
    """When sampling began, once for points that took turns."""
    together: dict[tuple[int, int], list[int]] = {}
    for state in states:
        if state.sampling_ns is not None:
            together.setdefault((state.sampling_ns, state.device), []).append(state.point.index)
    for (t_ns, _device), indices in together.items():
        yield t_ns, SamplingStarted(indices=tuple(indices), t_ns=t_ns)


def _point(state: PointState) -> Iterator[Timed]:
    """A point's start, its check and its end, those it had; none before the other, whatever the file says."""
    if state.started_ns is None:
        return
    index, started = state.point.index, state.started_ns
    yield started, PointStarted(index=index, t_ns=started, device=state.device)
    ended = max(started, state.began_ns if state.ended_ns is None else state.ended_ns)
    measured = state.measurement
    if measured is not None and state.status != "wrong":  # a wrong point's figures come with its end
        checked = ended if state.sampling_ns is None else min(max(started, state.sampling_ns), ended)
        tried = replace(measured, samples=(), traffic=None)
        yield checked, PointChecked(index=index, t_ns=checked, measurement=tried, free_bytes=0)
    if measured is not None and state.status == "done":
        yield (
            ended,
            PointMeasured(index=index, t_ns=ended, samples=measured.samples, traffic=measured.traffic),
        )
    else:
        yield ended, _failure(state, ended)


def _failure(state: PointState, t_ns: int) -> PointFailed:
    """How a point ended that is not done."""
    return PointFailed(
        index=state.point.index,
        t_ns=t_ns,
        status=_failed(state.status),
        reason=state.reason or "The recording was interrupted here.",
        detail=state.detail,
        measurement=state.measurement if state.status == "wrong" else None,
    )


def _failed(status: PointStatus) -> FailedStatus:
    """What a point's end says of it; one that never ended was interrupted."""
    match status:
        case "pending" | "running":
            return "interrupted"
        case "altered" | "impossible" | "done":
            return "failed"
        case known:
            return known
