"""How long a sweep still takes: points to come by their work, from what earlier ones of their kernel took.

What a point kept the worker busy for has two parts. Its launches grow with the work, as floating-point
operations do; all else (inputs, the check, emptying the cache) is taken to stay as it is. What is left of a
point that is being sampled is by its own samples.
"""

from typing import NamedTuple

from flashscope.kernels.workload.problem import Backend, Dtype, Passes, Problem
from flashscope.profiles.plan.plan import Plan, Point, Protocol
from flashscope.profiles.results.model.activity import last_event_ns, seconds_by_point
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.results.statistics.stats import quartiles

LEAST_SAMPLES = 3  # which are taken past the time cap, too
UNSAMPLED = 2  # runs of a point beside warm-up and samples: its first, and that of its ledger


class Pace(NamedTuple):
    """What a point took.

    Attributes:
        problem: Of which work.
        run_s: One run; 0 where it has no samples.
        rest_s: All but its runs.
    """

    problem: Problem
    run_s: float
    rest_s: float

    def seconds(self, problem: Problem, protocol: Protocol) -> float:
        """What another problem would take."""
        more = problem.flops / self.problem.flops if self.problem.flops else 1.0
        return self.rest_s + _runs_s(self.run_s * more, protocol)


def seconds_left(session: Session, now_ns: int | None = None) -> float | None:
    """Estimated seconds to the end, at least 0; None until a point has run.

    A kernel that has none yet is taken to be as slow as the slowest of the others. What points in flight have
    taken is no longer to come, so that between two events the estimate falls with the clock. Of one that has
    samples the rest is to come, however long it was checked before.

    Args:
        session: A sweep that runs.
        now_ns: The moment, by its clock; None: that of its last event.
    """
    spent, protocol = seconds_by_point(session), session.plan.protocol
    paces = _paces(session, spent)
    sampled = [state for state in session.in_flight if state.phase == "measure" and state.last_ms is not None]
    if not paces:
        return None
    rest = sum(_rest_s(state, protocol) for state in sampled)
    for state in session.to_come:
        if state not in sampled:
            gone = spent[state.point.index] if state.status == "running" else 0.0
            rest += _expected(state.point, paces, protocol) - gone
    rest /= devices_of(session)
    told = max([last_event_ns(session), *(state.told_ns or 0 for state in sampled)])
    since_ns = 0 if now_ns is None else max(0, now_ns - told)
    return max(0.0, rest - since_ns / 1e9)


def devices_of(session: Session) -> int:
    """How many devices share the part of a sweep that runs, or the last one."""
    return len(session.machines(len(session.resumed) + 1))


class Experience:
    """What sweeps of one machine took until now, by which those are judged that have not begun.

    A plan that has been measured whole takes as long again. Another one takes what its points take by their
    work, where every kernel of it has run on the same backend in the same dtype and pass. As many devices
    are taken to share it as shared the sweep before.
    """

    def __init__(self) -> None:
        self._whole: dict[Plan, float] = {}
        self._paces: dict[PaceKind, Pace] = {}
        self._devices = 1

    def take(self, session: Session) -> None:
        """Learn from a sweep, whether it still runs or has ended."""
        self._devices = devices_of(session)
        for kernel, pace in _paces(session, seconds_by_point(session)).items():
            if pace.run_s:  # of one that was not launched nothing follows for another plan
                self._paces[_kind(session.plan.backend, kernel, pace.problem)] = pace
        if session.outcome == "finished" and session.ended_ns is not None and not session.resumed:
            self._whole[session.plan] = self._devices * (session.ended_ns - session.t0_ns) / 1e9

    def seconds(self, plan: Plan) -> float | None:
        """Estimated seconds of a plan; None where nothing like it has been measured."""
        if plan in self._whole:
            return self._whole[plan] / self._devices
        total = 0.0
        for point in plan.points():
            pace = self._paces.get(_kind(plan.backend, point.kernel, point.problem))
            if pace is None:
                return None
            total += pace.seconds(point.problem, plan.protocol)
        return total / self._devices


PaceKind = tuple[Backend, str, Dtype, Passes]


def _kind(backend: Backend, kernel: str, problem: Problem) -> PaceKind:
    """What points must share, so that one says how long the other takes."""
    return backend, kernel, problem.dtype, problem.passes


def _paces(session: Session, spent: dict[int, float]) -> dict[str, Pace]:
    """What the last point of each kernel took that has an outcome, from the seconds of each point."""
    paces: dict[str, Pace] = {}
    for index, seconds in spent.items():
        state = session.points[index]
        if state.ended:
            paces[state.point.kernel] = _pace(state, seconds, session.plan.protocol)
    return paces


def _expected(point: Point, paces: dict[str, Pace], protocol: Protocol) -> float:
    own = paces.get(point.kernel)
    known = [own] if own else list(paces.values())
    return max(pace.seconds(point.problem, protocol) for pace in known)


def _rest_s(state: PointState, protocol: Protocol) -> float:
    """Seconds of a point's samples that are still to be taken, each as long as its newest."""
    each = (state.last_ms or 0.0) / 1e3
    capped = max(protocol.time_cap_s - state.done * each, (LEAST_SAMPLES - state.done) * each, 0.0)
    return min((state.total - state.done) * each, capped)


def _pace(state: PointState, seconds: float, protocol: Protocol) -> Pace:
    times = quartiles(state.measurement.samples) if state.measurement else None
    run_s = times.median / 1e3 if times else 0.0
    return Pace(state.point.problem, run_s, max(0.0, seconds - _runs_s(run_s, protocol)))


def _runs_s(run_s: float, protocol: Protocol) -> float:
    """All runs of a point, of one that takes so long: no more samples than the time cap leaves."""
    sampled = min(protocol.repeats * run_s, max(protocol.time_cap_s, LEAST_SAMPLES * run_s))
    return sampled + (protocol.warmup + UNSAMPLED) * run_s
