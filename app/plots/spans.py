"""Which kernel ran when: the shaded spans behind the telemetry."""

from dataclasses import dataclass

from profiles.session import Session


@dataclass(frozen=True)
class Span:
    """One point's stay on the device, in seconds since the session began; `end_s` is None while it runs."""

    kernel: str
    seqlen: int
    start_s: float
    end_s: float | None


def spans_of(session: Session) -> list[Span]:
    """A span for every point that was launched, by start."""
    spans = [
        Span(
            kernel=state.point.kernel,
            seqlen=state.point.problem.seqlen_q,
            start_s=(state.started_ns - session.t0_ns) / 1e9,
            end_s=None if state.ended_ns is None else (state.ended_ns - session.t0_ns) / 1e9,
        )
        for state in session.points
        if state.started_ns is not None
    ]
    return sorted(spans, key=lambda span: span.start_s)


def seqlen_changes(spans: list[Span]) -> list[tuple[float, int]]:
    """When the sequence length became another one: (seconds, the new length)."""
    changes: list[tuple[float, int]] = []
    for span in spans:
        if not changes or changes[-1][1] != span.seqlen:
            changes.append((span.start_s, span.seqlen))
    return changes
