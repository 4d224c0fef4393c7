"""How much of a sweep's wall time went into what it is for: launches that count or warm up, and checks."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import msgspec

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.wire.spent import ACTIVITIES, VISITS, SpentOn, spent_key

MS, NS = 1e3, 1e9
UNKNOWN = "nothing tells where its time went: an older version recorded it, or no point was measured"
NOT_ENDED = "it has not ended"


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Wall time in seconds, and what it went to.

    Attributes:
        wall_s: From begin to end.
        launches_s: Inside launches that are measured or warm up: first runs, warm-up, samples, runs back to
            back, the copy beside each point, the ledger's run.
        checks_s: Computing the float64 oracle, and comparing with it.
        ceilings_s: Launches of the loads that measure what the device reaches.
        preparing_s: Making inputs, compiling, allocating, giving memory back.
        flushing_s: Emptying the cache before samples, and reading clocks around them.
        counting_s: Runs under hardware counters, with the gaps around them.
    """

    wall_s: float
    launches_s: float
    checks_s: float
    ceilings_s: float
    preparing_s: float
    flushing_s: float
    counting_s: float

    @property
    def efficiency(self) -> float:
        """The share of launches, ceilings and checks in all."""
        return self.share(self.launches_s + self.ceilings_s + self.checks_s)

    @property
    def other_s(self) -> float:
        """The rest: starting processes, messages between them, saving, and points that failed."""
        known = self.launches_s + self.checks_s + self.ceilings_s
        known += self.preparing_s + self.flushing_s + self.counting_s
        return max(0.0, self.wall_s - known)

    def share(self, seconds: float) -> float:
        """Some of these seconds as a share of all."""
        return seconds / self.wall_s


class AtProblem(msgspec.Struct, frozen=True, kw_only=True):
    """The points of one problem: from the start of its first to the end of its last.

    Attributes:
        problem: Which.
        spent: The time of its points.
    """

    problem: Problem
    spent: Spent


def efficiency(session: Session) -> Spent | None:
    """Where the time of a sweep went; None while it runs, and of older recordings."""
    ends = [state.ended_ns for state in session.points if state.ended_ns is not None]
    ended = session.ended_ns if session.ended_ns is not None else max(ends, default=None)
    if session.outcome is None or ended is None or not _told(session.points):
        return None
    ceilings_ms = sum(one.took_ms or 0 for one in session.ceilings.values())
    return _spent(session.points, (ended - session.t0_ns) / NS, ceilings_ms)


def by_problem(session: Session) -> list[AtProblem]:
    """The same of each problem by itself, in the plan's order; of those that were measured in one go."""
    groups: dict[Problem, list[Sequence[PointState]]] = {}
    for group in session.plan.groups():
        if group[0].index < session.plan.cells:
            states = [session.points[point.index] for point in group]
            groups.setdefault(group[0].problem, []).append(states)
    walls = {problem: _walls(parts) for problem, parts in groups.items()}
    return [
        AtProblem(problem=problem, spent=spent)
        for problem, parts in groups.items()
        if (wall := walls[problem]) is not None
        and (spent := _spent(list(chain.from_iterable(parts)), wall)) is not None
    ]


def _walls(groups: Iterable[Sequence[PointState]]) -> float | None:
    """The seconds that these groups took one after the other; None where one did not end, or in two parts."""
    total = 0.0
    for states in groups:
        begun = [state.started_ns for state in states if state.started_ns is not None]
        ended = [state.ended_ns for state in states if state.ended_ns is not None]
        if not len(begun) == len(ended) == len(states) or len({state.part for state in states}) > 1:
            return None
        total += (max(ended) - min(begun)) / NS
    return total


def _spent(states: Sequence[PointState], wall_s: float, ceilings_ms: float = 0.0) -> Spent | None:
    """None where nothing is told, or what is told is more than there was."""
    took = _took(states)
    if wall_s <= 0 or not 0 < sum(took.values()) + ceilings_ms <= wall_s * MS:
        return None
    return Spent(
        wall_s=wall_s,
        launches_s=took["launch"] / MS,
        checks_s=took["check"] / MS,
        ceilings_s=ceilings_ms / MS,
        preparing_s=took["prepare"] / MS,
        flushing_s=took["flush"] / MS,
        counting_s=took["count"] / MS,
    )


def _took(states: Sequence[PointState]) -> Mapping[SpentOn, float]:
    """Milliseconds of each activity over all of these points."""
    return {
        activity: sum(_value(state, spent_key(visit, activity)) for state in states for visit in VISITS)
        for activity in ACTIVITIES
    }


def _value(state: PointState, key: str) -> float:
    known = state.measurement.value(key) if state.measurement else None
    return max(0.0, known or 0.0)


def _told(states: Sequence[PointState]) -> bool:
    return any(_took(states).values())


def efficiency_document(session: Session) -> dict[str, object]:
    """All of it as JSON has it: `share` and `spent` are null where nothing is told, `missing` says why."""
    spent = efficiency(session)
    running = session.outcome is None
    return {
        "share": spent and spent.efficiency,
        "missing": "" if spent else NOT_ENDED if running else UNKNOWN,
        "spent": spent,
        "by_problem": [
            {"problem": one.problem, "share": one.spent.efficiency, "spent": one.spent}
            for one in by_problem(session)
        ],
    }
