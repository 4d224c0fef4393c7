"""Which kernels ran when: the shaded spans behind the telemetry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from flashscope.profiles.results.model.activity import Activity, activities
from flashscope.profiles.results.model.session import Session


@dataclass(frozen=True)
class Span:
    """A stretch of time on the device, in seconds since the session began; `end_s` is None while it lasts.

    Several kernels took turns, too fast for the readings to tell them apart.
    """

    kernels: tuple[str, ...]
    seqlen: int
    start_s: float
    end_s: float | None
    points: tuple[int, ...] = ()  # their indices, in the order of the kernels
    device: int = 0  # which of the session's it ran on


def spans_of(session: Session) -> list[Span]:
    """A span for each check of a point, each time kernels were sampled, each run back to back; by start."""
    sustained_s = session.plan.protocol.sustain_s
    return [
        Span(
            kernels=tuple(state.point.kernel for state in states),
            seqlen=activity.seqlen,
            start_s=(start_ns - session.t0_ns) / 1e9,
            end_s=None if end_ns is None else (end_ns - session.t0_ns) / 1e9,
            points=tuple(state.point.index for state in states),
            device=states[0].device,
        )
        for activity in activities(session)
        for states, start_ns, end_ns in _pieces(activity, sustained_s)
    ]


def _pieces(activity: Activity, sustained_s: float) -> Iterator[Activity]:
    """An activity as it is; of samples, and of the runs back to back after them, each on its own.

    These come one kernel after the other, and a point ends with its own.
    """
    ended = sorted((s for s in activity.states if s.ended_ns is not None), key=lambda s: s.ended_ns or 0)
    sampled = activity.states[0].sampling_ns == activity.start_ns
    if not (sampled and sustained_s and len(ended) == len(activity.states) and activity.end_ns is not None):
        yield activity
        return
    first_ns, all_ns = ended[0].ended_ns or 0, activity.end_ns - activity.start_ns
    begin = max(activity.start_ns, first_ns - round(min(sustained_s * 1e9, all_ns)))
    yield Activity(activity.states, activity.start_ns, begin)
    for state in ended:
        end = min(max(begin, state.ended_ns or 0), activity.end_ns)
        yield Activity((state,), begin, end)
        begin = end


def seqlen_changes(spans: list[Span]) -> list[tuple[float, int]]:
    """When the sequence length changed: (seconds, the new length)."""
    changes: list[tuple[float, int]] = []
    for span in spans:
        if not changes or changes[-1][1] != span.seqlen:
            changes.append((span.start_s, span.seqlen))
    return changes


def seqlen_stretches(spans: Sequence[Span], end_s: float) -> list[tuple[float, float, int]]:
    """From when to when the sequence length was the same; the last stretch ends with its span, or goes on."""
    ends = [span.end_s for span in spans]
    last = end_s if None in ends else min(end_s, max((end for end in ends if end is not None), default=end_s))
    changes = [*seqlen_changes(list(spans)), (last, 0)]
    return [(start, following, seqlen) for (start, seqlen), (following, _) in pairwise(changes)]


def coarse(spans: Sequence[Span], view: tuple[float, float], least_s: float) -> list[Span]:
    """Those that lie in a view; of ten thousand only as many as can be told apart.

    What ends less than `least_s` after the span drawn before it began is drawn as part of that.
    """
    drawn: list[Span] = []
    end_s = -inf  # of the last one drawn
    for span in spans:
        ends = inf if span.end_s is None else span.end_s
        if ends < view[0] or span.start_s > view[1]:
            continue
        if drawn and ends - drawn[-1].start_s < least_s:
            end_s = ends
            continue
        _lengthen(drawn, end_s)
        drawn.append(span)
        end_s = ends
    _lengthen(drawn, end_s)
    return drawn


def _lengthen(drawn: list[Span], end_s: float) -> None:
    """Let the last one go on to there."""
    if drawn and drawn[-1].end_s is not None and drawn[-1].end_s < end_s:
        drawn[-1] = replace(drawn[-1], end_s=end_s)


def running_at(spans: Sequence[Span], at_s: float) -> Span | None:
    """What was at work at this moment."""
    begun = (span for span in reversed(spans) if span.start_s <= at_s)
    return next((span for span in begun if span.end_s is None or at_s < span.end_s), None)


def ends_of(spans: Sequence[Span], point: int) -> tuple[float, float] | None:
    """From when the point's check began to when its samples ended; None where it has not ended."""
    own = [(s.start_s, s.end_s) for s in spans if point in s.points and s.end_s is not None]
    return (min(start for start, _ in own), max(end for _, end in own)) if own else None
