"""An engine under test, and a way to read what it says."""

import threading
import time
from collections.abc import Callable
from queue import Queue
from typing import TypeVar

import psutil

from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.wire.events import Event, PlanFinished, PlanStarted, PointFailed, PointMeasured
from flashscope.profiles.wire.measurement import Measurement
from flashscope.profiles.wire.process import MARK

E = TypeVar("E", bound=Event)
PATIENCE_S = 120.0
QUICK = Protocol(warmup=1, repeats=3, time_cap_s=5.0, deadline_s=120.0, drift_check=False)


class Heard:
    """An engine and everything it said."""

    def __init__(self, kernels: str) -> None:
        self.events: list[Event] = []
        self._queue: Queue[Event] = Queue()
        self.engine = LocalEngine(self._queue.put, kernels)

    def next(self) -> Event:
        """The next event, waited for."""
        event = self._queue.get(timeout=PATIENCE_S)
        self.events.append(event)
        return event

    def until(self, kind: type[E], matching: Callable[[E], bool] = lambda _: True) -> E:
        """The next event of a kind."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            event = self.next()
            if isinstance(event, kind) and matching(event):
                return event
        raise TimeoutError(f"no {kind.__name__} came")

    def sweep(self, plan: Plan) -> list[PointState]:
        """Run a plan to its end; its points, each of which has ended exactly once."""
        start = len(self.events)
        self.engine.run(plan)
        self.until(PlanFinished)
        ends = [e.index for e in self.events[start:] if isinstance(e, PointMeasured | PointFailed)]
        session = self.session()
        assert sorted(ends) == [s.point.index for s in session.points if s.status != "pending"]
        return session.points

    def session(self) -> Session:
        """What the events since the last start of a plan make."""
        begun = max(n for n, event in enumerate(self.events) if isinstance(event, PlanStarted))
        opening, *events = self.events[begun:]
        assert isinstance(opening, PlanStarted)
        session = Session.begin(opening)
        for event in events:
            session.apply(event)
        return session

    def barrier(self) -> None:
        """Return once the engine's thread has done what it was asked before."""
        reached = threading.Event()
        self.engine._post(reached.set)
        assert reached.wait(PATIENCE_S)

    def is_idle(self) -> bool:
        """Whether the engine only waits for what it is asked to do, with its worker as its only child."""
        if not self.engine._thread.is_alive():
            return False
        self.barrier()
        worker, others = self.engine._supervisor, (self.engine._tracer, self.engine._watcher)
        return worker._state == "idle" and worker._job is None and all(one.child is None for one in others)

    def forget(self) -> None:
        """Begin anew, as if the engine had not said anything yet."""
        self.drain()
        self.events.clear()

    def all(self, kind: type[E]) -> list[E]:
        """Everything of a kind that was heard so far."""
        return [e for e in self.events if isinstance(e, kind)]

    def drain(self) -> None:
        """Take in what has arrived, without waiting."""
        while not self._queue.empty():
            self.events.append(self._queue.get_nowait())


def quick_plan(
    *kernels: str,
    seqlens: tuple[int, ...] = (64,),
    backend: Backend = "cpu",
    protocol: Protocol = QUICK,
) -> Plan:
    """A plan that is over in no time."""
    problems = tuple(Problem(seqlen_q=n, seqlen_k=n, head_dim=32) for n in seqlens)
    return Plan(backend=backend, kernels=kernels, problems=problems, protocol=protocol)


def running_children() -> list[psutil.Process]:
    """Spawned children of this process that still run."""
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if any(MARK in part for part in child.cmdline()) and child.is_running()
    ]


def done(point: PointState) -> Measurement:
    """What a point yielded that is to be done."""
    assert point.status == "done", point.reason
    assert point.measurement is not None
    return point.measurement
