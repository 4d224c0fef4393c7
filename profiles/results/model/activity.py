"""What the worker was at, when: one point being checked, or several being sampled in turns."""

from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from flashscope.profiles.results.model.session import PointState, Session


class Activity(NamedTuple):
    """A stretch of time, in ns of the session's clock.

    Attributes:
        states: The points it went to, by index.
        start_ns: When it began.
        end_ns: When it ended, None while it lasts.
    """

    states: tuple[PointState, ...]
    start_ns: int
    end_ns: int | None

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that ran, in turns where there are several."""
        return tuple(state.point.kernel for state in self.states)

    @property
    def seqlen(self) -> int:
        """N of all of them."""
        return self.states[0].point.problem.seqlen


def activities(session: Session) -> list[Activity]:
    """All that workers were at, in order; each ends where its device goes on, or its last point ended."""
    devices = {state.device for state in session.points}
    found = [stretch for device in devices for stretch in _on_device(session, device)]
    return sorted(found, key=attrgetter("start_ns"))


def _on_device(session: Session, device: int) -> list[Activity]:
    begun: dict[int, list[PointState]] = {}
    for state in (one for one in session.points if one.device == device):
        for moment in (state.started_ns, *state.broken_off_ns, state.sampling_ns):
            if moment is not None:
                begun.setdefault(moment, []).append(state)
    return [
        Activity(tuple(begun[start]), start, _end(begun[start], following))
        for start, following in pairwise([*sorted(begun), None])
        if start is not None  # None comes last, and follows only
    ]


def seconds_by_point(session: Session) -> dict[int, float]:
    """How long each point that has begun kept the worker until the last event, by index.

    Turns are shared out evenly.
    """
    spent = {s.point.index: 0.0 for s in session.points if s.started_ns is not None}
    last_ns = last_event_ns(session)
    for states, start_ns, end_ns in activities(session):
        for index in (state.point.index for state in states if state.point.index in spent):
            spent[index] += ((last_ns if end_ns is None else end_ns) - start_ns) / len(states) / 1e9
    return spent


def last_event_ns(session: Session) -> int:
    """When a part or a point last began, was sampled or ended, by the session's clock."""
    told = (moment for s in session.points for moment in (s.started_ns, s.sampling_ns, s.ended_ns))
    begun = max([session.t0_ns, *(part.t_ns for part in session.resumed)])
    return max((moment for moment in told if moment is not None), default=begun)


def _end(states: list[PointState], following: int | None) -> int | None:
    ends = [state.ended_ns for state in states if state.ended_ns is not None]
    last = max(ends) if len(ends) == len(states) else None
    return min((moment for moment in (last, following) if moment is not None), default=None)
