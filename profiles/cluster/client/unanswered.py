"""What was asked of an engine that may be lost, and how that is answered then."""

import time

from flashscope.profiles.cluster.calls import EngineRequest, RunPlan, WatchBackend
from flashscope.profiles.wire.events import (
    BackwardTraceReady,
    Event,
    MachineFound,
    PlanFinished,
    PointFailed,
    PointMeasured,
    PointStarted,
    Readings,
    RequestFailed,
    RequestKind,
    StallsReady,
    TimelineReady,
    TraceReady,
)
from flashscope.profiles.wire.live_events import LiveEnded
from flashscope.profiles.wire.messages import (
    ProbeMachine,
    RecordBackwardTrace,
    RecordStalls,
    RecordTimeline,
    RecordTrace,
    RunLive,
)

KINDS: dict[type[EngineRequest], RequestKind] = {
    ProbeMachine: "probe",
    WatchBackend: "watch",
    RecordTrace: "trace",
    RecordBackwardTrace: "backward-trace",
    RecordTimeline: "timeline",
    RunLive: "live",
    RecordStalls: "stalls",
}
ANSWERS: dict[type[Event], RequestKind] = {
    MachineFound: "probe",
    TraceReady: "trace",
    BackwardTraceReady: "backward-trace",
    TimelineReady: "timeline",
    LiveEnded: "live",
    StallsReady: "stalls",
}


class Unanswered:
    """Requests without an answer and points without an end, by what an engine was asked and has said."""

    def __init__(self) -> None:
        self._requests: list[RequestKind] = []
        self._points: dict[int, None] = {}
        self._running = False
        self._clock = (time.monotonic_ns(), time.monotonic_ns())  # the session's, and when that was, by ours

    def asked(self, asked: EngineRequest) -> None:
        """Something was asked for."""
        if isinstance(asked, RunPlan):
            self._running = True
        elif (kind := KINDS.get(type(asked))) is not None:
            if kind == "watch":  # it takes the place of the one before
                self._requests = [one for one in self._requests if one != kind]
            self._requests.append(kind)

    def heard(self, event: Event) -> None:
        """The engine said something."""
        match event:
            case PointStarted(index=index):
                self._points[index] = None
            case PointMeasured(index=index) | PointFailed(index=index):
                self._points.pop(index, None)
            case PlanFinished():
                self._running = False
                self._points.clear()
        kind = event.request if isinstance(event, RequestFailed) else ANSWERS.get(type(event))
        if kind in self._requests:
            self._requests.remove(kind)
        told = event.readings[-1].t_ns if isinstance(event, Readings) else getattr(event, "t_ns", None)
        if told is not None:
            self._clock = (told, time.monotonic_ns())

    def refusal(self, asked: EngineRequest, reason: str) -> Event | None:
        """What is said where this alone is refused; None: nobody waits for an answer to it."""
        if isinstance(asked, RunPlan):
            return self._finished(reason)
        kind = KINDS.get(type(asked))
        return RequestFailed(request=kind, reason=reason) if kind is not None else None

    def answers(self, reason: str) -> list[Event]:
        """What is said where nothing more will come: how all of it ended, by the session's clock."""
        t_ns = self._now_ns
        last: list[Event] = [
            PointFailed(index=index, t_ns=t_ns, status="failed", reason=reason) for index in self._points
        ]
        last += [RequestFailed(request=kind, reason=reason) for kind in self._requests]
        if self._running:
            last.append(self._finished(reason))
        self._points.clear()
        self._requests.clear()
        self._running = False
        return last

    def _finished(self, reason: str) -> PlanFinished:
        return PlanFinished(t_ns=self._now_ns, outcome="failed", reason=reason)

    @property
    def _now_ns(self) -> int:
        """The moment by the session's clock."""
        told, at = self._clock
        return told + time.monotonic_ns() - at
