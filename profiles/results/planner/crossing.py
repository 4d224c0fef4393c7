"""From which N on a tiled kernel is faster than standard attention: told by measured points alone."""

from collections.abc import Sequence
from typing import NamedTuple

from kernels.problem import Problem
from profiles.results.curves import by_curve
from profiles.results.planner.forecast import distance
from profiles.results.rows import PointRow

STANDARD = "standard"
STEP = 8  # tokens to which a search looks
FINE = 32  # a search ends when the interval is this part of its lower end
PARTS = 4  # into which a sweep cuts the interval: bisection, two steps at once


class Beside(NamedTuple):
    """Two kernels at one N, medians in ms."""

    seqlen: int
    standard: float
    tiled: float


class Crossing(NamedTuple):
    """Where a tiled kernel overtakes standard.

    Attributes:
        low: The N up to which standard is not slower, of those measured; None: it is slower at each.
        high: The N from which on it is slower at each; None: at none.
        measured: All N measured, rising.
        clear: Whether they change places once at most.
    """

    low: int | None
    high: int | None
    measured: tuple[int, ...]
    clear: bool


def crossing(points: Sequence[Beside]) -> Crossing | None:
    """Where the two change places; None without any point.

    Where they do so several times, as within the noise, the interval spans all of that.
    """
    points = sorted(points)
    if not points:
        return None
    wins = [one.tiled < one.standard for one in points]
    first = wins.index(True) if any(wins) else len(wins)
    last = len(wins) - wins[::-1].index(False) if not all(wins) else 0
    lengths = tuple(one.seqlen for one in points)
    return Crossing(
        low=lengths[first - 1] if first else None,
        high=lengths[last] if last < len(lengths) else None,
        measured=lengths,
        clear=first == last,
    )


def beside(rows: Sequence[PointRow], tiled: str) -> list[Beside]:
    """The problems at which both kernels are done."""
    done = {(row.kernel, row.problem): row for row in rows if row.done and row.times}
    found = []
    for (kernel, problem), row in done.items():
        partner = done.get((tiled, problem))
        if kernel == STANDARD and partner and row.times and partner.times:
            found.append(Beside(row.seqlen, row.times.median, partner.times.median))
    return found


def recorded(rows: Sequence[PointRow], tiled: str, problem: Problem) -> tuple[str, Crossing] | None:
    """The crossing on that curve of a session that is nearest to a problem, and the curve's name."""
    both = {curve: points for curve, members in by_curve(rows).items() if (points := beside(members, tiled))}
    if not both:
        return None
    curve = min(both, key=lambda one: distance(one, problem))
    found = crossing(both[curve])
    return (curve.label, found) if found else None


class Search:
    """Narrows a crossing down: says which N to measure next, and is told what they took.

    Attributes:
        points: What was measured so far.

    Args:
        first: The N to begin with.
    """

    def __init__(self, first: Sequence[int]) -> None:
        self._first = tuple(first)
        self.points: list[Beside] = []

    @property
    def found(self) -> Crossing | None:
        """What is known so far."""
        return crossing(self.points)

    def wanted(self) -> tuple[int, ...]:
        """The N to measure next; none: it is found, or there is none."""
        found = self.found
        if found is None:
            return self._first
        if found.low is None or found.high is None or not found.clear:
            return ()
        width = found.high - found.low
        if width <= max(STEP, found.low // FINE):
            return ()
        inner = {found.low + width * k // PARTS // STEP * STEP for k in range(1, PARTS)}
        return tuple(sorted(n for n in inner if found.low < n < found.high))

    def take(self, points: Sequence[Beside]) -> None:
        """Take in what was measured."""
        self.points.extend(points)
