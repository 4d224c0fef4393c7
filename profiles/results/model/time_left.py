"""How long a sweep still takes: points to come by their work, from what earlier ones of their kernel took.

What a point kept the worker busy for has two parts. Its launches grow with the work, as floating-point
operations do; all else (inputs, the check, emptying the cache) is taken to stay as it is.
"""

from typing import NamedTuple

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.results.model.activity import seconds_by_point
from flashscope.profiles.results.model.session import BROKEN_OFF, PointState, Session
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


def seconds_left(session: Session) -> float | None:
    """Estimated seconds to the end; None until a point has run.

    A kernel that has none yet is taken to be as slow as the slowest of the others.
    """
    paces: dict[str, Pace] = {}
    for index, seconds in seconds_by_point(session).items():
        state = session.points[index]
        if state.status not in BROKEN_OFF:
            paces[state.point.kernel] = _pace(state, seconds, session.plan.protocol)
    if not paces:
        return None
    return sum(_expected(state, paces, session.plan.protocol) for state in session.to_come)


def _expected(state: PointState, paces: dict[str, Pace], protocol: Protocol) -> float:
    own, problem = paces.get(state.point.kernel), state.point.problem
    known = [own] if own else list(paces.values())
    return max(pace.seconds(problem, protocol) for pace in known)


def _pace(state: PointState, seconds: float, protocol: Protocol) -> Pace:
    times = quartiles(state.measurement.samples) if state.measurement else None
    run_s = times.median / 1e3 if times else 0.0
    return Pace(state.point.problem, run_s, max(0.0, seconds - _runs_s(run_s, protocol)))


def _runs_s(run_s: float, protocol: Protocol) -> float:
    """All runs of a point, of one that takes so long: no more samples than the time cap leaves."""
    sampled = min(protocol.repeats * run_s, max(protocol.time_cap_s, LEAST_SAMPLES * run_s))
    return sampled + (protocol.warmup + UNSAMPLED) * run_s
