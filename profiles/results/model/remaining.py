"""What is left of a plan that was broken off, and how it goes on in the same session."""

from dataclasses import dataclass
from datetime import datetime, timezone

from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.own.consent import obstacle_to_run
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Point
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.wire.events import Attempt, Outcome, PlanResumed, PointStatus, TelemetryStarted

OPEN: frozenset[PointStatus] = frozenset(
    ("pending", "running", "interrupted", "cancelled", "failed", "timeout")
)
"""Points that have no answer yet: never reached, broken off, or ended by a fault that may not come again."""
PAUSE_NS = 1_000_000_000  # between two parts, by the session's clock


@dataclass(frozen=True, kw_only=True)
class Remaining:
    """What another part of a session is to do.

    Attributes:
        session_id: The session's.
        part: Which part it will be, from 2.
        left: Indices of the points to measure.
        again: Those of them that had been started, as they stand.
        repeats: Indices of points with an outcome that are measured once more first.
        first: Index of the first of these repeats among the session's points.
        t_ns: When the part begins, by the session's clock.
        outcome: How the part before ended, None: whoever measured was killed.
        ceilings: Whether what the device reaches is measured first.
    """

    session_id: str
    part: int
    left: frozenset[int]
    again: tuple[Attempt, ...]
    repeats: tuple[int, ...]
    first: int
    t_ns: int
    outcome: Outcome | None
    ceilings: bool = True

    @property
    def nothing(self) -> bool:
        """Whether the session is as complete as it can be; else at least its end is missing."""
        return not self.left and self.outcome == "finished"

    def groups(self, plan: Plan) -> tuple[tuple[Point, ...], ...]:
        """The points in running order: what is repeated, then those left of each group."""
        left = (tuple(point for point in group if point.index in self.left) for group in plan.groups())
        return tuple(filter(None, (plan.again(self.repeats, self.first), *left)))

    def begin(self, machine: Machine, telemetry: TelemetryStarted | None) -> PlanResumed:
        """The first event of the part, which begins now."""
        return PlanResumed(
            session_id=self.session_id,
            part=self.part,
            machine=machine,
            started_at=datetime.now(timezone.utc).astimezone().isoformat(timespec="milliseconds"),
            t_ns=self.t_ns,
            again=self.again,
            repeats=self.repeats,
            outcome=self.outcome,
            telemetry=telemetry,
        )


def unfinished(session: Session) -> bool:
    """Whether points of a session's plan have no answer yet, or its sweep was broken off."""
    return session.outcome != "finished" or any(state.status in OPEN for state in session.planned)


def remaining_of(session: Session) -> Remaining:
    """What is left of a session's plan; nothing may be measuring it."""
    left = [state for state in session.planned if state.status in OPEN]
    return Remaining(
        session_id=session.id,
        part=len(session.resumed) + 2,
        left=frozenset(state.point.index for state in left),
        again=tuple(_attempt(state) for state in left if state.status != "pending"),
        repeats=_repeats(session) if any(state.point.index < session.plan.cells for state in left) else (),
        first=len(session.points),
        t_ns=_last_ns(session) + PAUSE_NS,
        outcome=session.outcome,
    )


def obstacle(session: Session, machine: Machine) -> str:
    """Why a session cannot go on here, in one sentence; empty when it can."""
    altered = sum(state.status == "altered" for state in session.points)
    if altered:
        return (
            f"{altered} of its points are not what was measured; nothing is added to such a file. "
            "Run the sweep anew."
        )
    known = {spec.name for spec in KERNELS} | {own.name for own in session.plan.own}
    missing = sorted(set(session.plan.kernels) - known)
    if missing:
        return f"Its plan names kernels that this Flashscope does not have: {', '.join(missing)}."
    if not_to_run := next(filter(None, map(obstacle_to_run, session.plan.own)), ""):
        return not_to_run
    if machine.device(session.backend) is None:
        return f"It was measured on a GPU, and no usable one is here: {machine.why_no_gpu()}."
    return ""


def _attempt(state: PointState) -> Attempt:
    return Attempt(
        index=state.point.index,
        status=state.status,
        reason=state.reason,
        detail=state.detail,
        started_ns=state.started_ns,
        ended_ns=state.ended_ns,
    )


def _repeats(session: Session) -> tuple[int, ...]:
    """The points that are done of the first group that has any: what the drift check repeats, too."""
    for group in session.plan.groups():
        done = [point.index for point in group if session.points[point.index].status == "done"]
        if done:
            return tuple(done)
    return ()


def _last_ns(session: Session) -> int:
    """The last moment that a session tells of."""
    told = [(s.started_ns, s.sampling_ns, s.ended_ns) for s in session.points]
    begun = max((part.t_ns for part in session.resumed), default=session.t0_ns)
    lanes = (session.readings, *session.beside.values())
    read = max((reading.t_ns for lane in lanes for reading in lane), default=begun)
    known = (moment for moments in told for moment in moments if moment is not None)
    return max(begun, read, session.ended_ns or begun, *known, begun)
