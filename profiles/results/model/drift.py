"""Drift: what was measured once more, at the end of a sweep or at the begin of a later part of it."""

from math import inf
from statistics import median
from typing import NamedTuple

from flashscope.profiles.results.model.session import PointState, Session

LEAST_CHANGE = 0.01
SPREADS = 3  # median absolute deviations


class Drift(NamedTuple):
    """One point and its repeat.

    Attributes:
        kernel: What ran.
        seqlen: N.
        first_ms: The median of the first time.
        last_ms: The median of the repeat.
        noise: The least change that counts, as a share: 1%, or 3 median absolute deviations of either time.
    """

    kernel: str
    seqlen: int
    first_ms: float
    last_ms: float
    noise: float

    @property
    def ratio(self) -> float:
        """How many times as long it took the second time; 0 or infinite where no number holds it."""
        return self.last_ms / self.first_ms

    @property
    def beyond_noise(self) -> bool:
        """Whether the two times differ by more than the runs of either scatter."""
        return abs(self.ratio - 1) > self.noise


def drifts(session: Session) -> list[Drift]:
    """Every point of the drift check whose two times can be compared; empty without a drift check."""
    repeats = session.planned[session.plan.cells :]
    found = (drift_between(*pair) for pair in zip(session.points, repeats, strict=False))
    return [drift for drift in found if drift is not None]


def drift_between(first: PointState, repeat: PointState) -> Drift | None:
    """A point beside its repeat; None where they cannot be compared."""
    before, after = _times(first), _times(repeat)
    if not before or not after:
        return None
    first_ms, last_ms = median(before), median(after)
    if not (first_ms > 0 and last_ms > 0 and 0 < last_ms / first_ms < inf):
        return None
    noise = max(LEAST_CHANGE, SPREADS * max(_scatter(before), _scatter(after)))
    return Drift(first.point.kernel, first.point.problem.seqlen, first_ms, last_ms, noise)


def drift_text(session: Session) -> str:
    """The drift check in one sentence; empty when there is nothing to tell."""
    repeated = drifts(session)
    if not repeated:
        return ""
    each = ", ".join(f"{drift.kernel} {drift.ratio:.3f}×" for drift in repeated)
    return f"At the end N = {repeated[0].seqlen} took, of its first time: {each}"


def _times(state: PointState) -> list[float]:
    """The accepted samples of a point that counts, in ms."""
    if state.status != "done" or state.measurement is None:
        return []
    return [sample.ms for sample in state.measurement.samples if sample.rejected is None]


def _scatter(times: list[float]) -> float:
    """The median absolute deviation over the median."""
    middle = median(times)
    return median(abs(ms - middle) for ms in times) / middle
