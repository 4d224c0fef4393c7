"""Which kernels ran when: the shaded spans behind the telemetry."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from profiles.results.activity import activities
from profiles.results.session import Session


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


def spans_of(session: Session) -> list[Span]:
    """A span for each check of a point and each time kernels were sampled, ordered by start."""
    return [
        Span(
            kernels=activity.kernels,
            seqlen=activity.seqlen,
            start_s=(activity.start_ns - session.t0_ns) / 1e9,
            end_s=None if activity.end_ns is None else (activity.end_ns - session.t0_ns) / 1e9,
            points=tuple(state.point.index for state in activity.states),
        )
        for activity in activities(session)
    ]


def seqlen_changes(spans: list[Span]) -> list[tuple[float, int]]:
    """When the sequence length changed: (seconds, the new length)."""
    changes: list[tuple[float, int]] = []
    for span in spans:
        if not changes or changes[-1][1] != span.seqlen:
            changes.append((span.start_s, span.seqlen))
    return changes


def seqlen_stretches(spans: Sequence[Span], end_s: float) -> list[tuple[float, float, int]]:
    """From when to when the sequence length was the same; the last stretch goes to the end."""
    changes = [*seqlen_changes(list(spans)), (end_s, 0)]
    return [(start, following, seqlen) for (start, seqlen), (following, _) in pairwise(changes)]


def running_at(spans: Sequence[Span], at_s: float) -> Span | None:
    """What was at work at this moment."""
    begun = (span for span in reversed(spans) if span.start_s <= at_s)
    return next((span for span in begun if span.end_s is None or at_s < span.end_s), None)


def ends_of(spans: Sequence[Span], point: int) -> tuple[float, float] | None:
    """From when the point's check began to when its samples ended; None where it has not ended."""
    own = [(s.start_s, s.end_s) for s in spans if point in s.points and s.end_s is not None]
    return (min(start for start, _ in own), max(end for _, end in own)) if own else None
