"""The noise of the runs themselves: the least change of a point that is worth a word.

Rounds of one run tell how far single runs scatter, but not how far the next run will be off as a whole. What
a session measured twice, at its start and at its end, tells something of that.
"""

from collections.abc import Mapping
from statistics import NormalDist
from typing import NamedTuple

from flashscope.profiles.results.model.drift import LEAST_CHANGE, SPREADS, drifts
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session

LARGEST_SAME = 0.05  # a share: noise that hides larger changes is no evidence that there are none
DOZEN = 12  # points among which the others of these figures hold
CLOCK_UNSEEN = 0.07
"""What a clock that nobody read may make of one build: in 21 recordings of the same sweep on an H200 (four
kernels, N = 1k to 8k) medians differed by up to 7.0%, and cycles by 0.1% to 0.7% where the clock decides. A
CPU's clock is never read."""


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
    for drift in drifts(session):
        times = drift.first_ms, drift.last_ms
        one = Wander(max(times) - min(times), max(times))
        found[drift.kernel] = max(found.get(drift.kernel, one), one)
    return found


def wander_of(row: PointRow, wandered: Mapping[str, Wander]) -> float:
    """How far a point's kernel wandered in its session, as a share of the point's time."""
    known = wandered.get(row.kernel)
    return known.share(row.times.median) if known is not None and row.times else 0.0


def least_change(*, scatters: tuple[float, float], wander: float) -> float:
    """The least change that counts, as a share: 1%, 3 MAD / median of either side, or what drifted.

    Args:
        scatters: Median absolute deviation over the median of the rounds of either side.
        wander: How far the point's kernel wandered within either session, as a share.
    """
    return max(LEAST_CHANGE, SPREADS * max(scatters), wander)


def luck(points: int) -> float:
    """By how much further out the luckiest of so many points lies than that of a dozen; at least 1.

    What moves a session as a whole is taken to be normal, and each point's share of 5% is the same for any
    number of them: 1.35 for 480 points.
    """
    among, dozen = (NormalDist().inv_cdf(1 - 0.025 / count) for count in (max(points, DOZEN), DOZEN))
    return among / dozen
