"""Which kernels ran when: the shaded spans behind the telemetry."""

from dataclasses import dataclass

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


def spans_of(session: Session) -> list[Span]:
    """A span for each check of a point and each time kernels were sampled, ordered by start."""
    return [
        Span(
            kernels=activity.kernels,
            seqlen=activity.seqlen,
            start_s=(activity.start_ns - session.t0_ns) / 1e9,
            end_s=None if activity.end_ns is None else (activity.end_ns - session.t0_ns) / 1e9,
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
