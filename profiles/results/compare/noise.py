"""The noise of the runs themselves: the least change of a point that is worth a word.

Rounds of one run tell how far single runs scatter, but not how far the next run will be off as a whole. What
a session measured twice, at its start and at its end, tells something of that.
"""

from typing import NamedTuple

from profiles.results.rows import PointRow
from profiles.results.session import Session

LEAST_CHANGE = 0.01
SPREADS = 3  # median absolute deviations


class Wander(NamedTuple):
    """How far a kernel's time was off when it was measured again.

    Attributes:
        off_ms: The difference of the two medians.
        of_ms: The longer of them.
    """

    off_ms: float
    of_ms: float

    def share(self, ms: float) -> float:
        """The same for a point that takes `ms`, as a share of it.

        What remains of a drift beside the clock's is mostly of a fixed size (launches, the start of a run):
        it fades with longer runs; a shorter one is taken to be off by as large a share as the one repeated.
        """
        return self.off_ms / max(ms, self.of_ms)


def wanders(session: Session) -> dict[str, Wander]:
    """The largest wander of each kernel that the drift check repeated."""
    found: dict[str, Wander] = {}
    for first, again in zip(session.points, session.points[session.plan.cells :], strict=False):
        before, after = (PointRow.of(session.backend, state) for state in (first, again))
        if not (before.done and after.done and before.times and after.times):
            continue
        times = before.times.median, after.times.median
        one = Wander(abs(times[1] - times[0]), max(times))
        found[before.kernel] = max(found.get(before.kernel, one), one)
    return found


def threshold(*, scatters: tuple[float, float], wander: float) -> float:
    """The least change that counts, as a share: 1%, 3 MAD / median of either side, or what drifted.

    Args:
        scatters: Median absolute deviation over the median of the rounds of either side.
        wander: How far the point's kernel wandered within either session, as a share.
    """
    return max(LEAST_CHANGE, SPREADS * max(scatters), wander)
