"""The drift check: what was measured first, measured again at the end of the sweep."""

from math import inf
from typing import NamedTuple

from profiles.results.session import PointState, Session
from profiles.results.stats import quartiles


class Drift(NamedTuple):
    """One point and its repeat: medians in ms."""

    kernel: str
    seqlen: int
    first_ms: float
    last_ms: float

    @property
    def ratio(self) -> float:
        """How many times as long it took at the end; 0 or infinite where no number holds it."""
        return self.last_ms / self.first_ms


def drifts(session: Session) -> list[Drift]:
    """Every point of the drift check whose two times can be compared; empty without a drift check."""
    repeats = session.points[session.plan.cells :]
    repeated = []
    for state, repeat in zip(session.points, repeats, strict=False):
        first_ms, last_ms = _median(state), _median(repeat)
        if first_ms is not None and last_ms is not None and first_ms > 0 and last_ms > 0:
            problem = state.point.problem
            repeated.append(Drift(state.point.kernel, problem.seqlen_q, first_ms, last_ms))
    return [drift for drift in repeated if 0 < drift.ratio < inf]


def drift_text(session: Session) -> str:
    """The drift check in one sentence; empty when there is nothing to tell."""
    repeated = drifts(session)
    if not repeated:
        return ""
    each = ", ".join(f"{drift.kernel} {drift.ratio:.3f}×" for drift in repeated)
    return f"At the end N = {repeated[0].seqlen} took, of its first time: {each}"


def _median(state: PointState) -> float | None:
    """The median of a point that counts."""
    if state.status != "done" or state.measurement is None:
        return None
    times = quartiles(state.measurement.samples)
    return times.median if times else None
