"""From which N on a tiled kernel is faster than standard attention: told by measured points alone."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.problem_words import layout_words, pass_words, scoring_words
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.planner.forecast import distance
from flashscope.profiles.results.statistics.stats import Quartiles

STANDARD = "standard"
STEP = 8  # tokens to which a search looks
FINE = 32  # a search ends when the interval is this part of its lower end
PARTS = 4  # into which a sweep cuts the interval: bisection, two steps at once


class LeadAt(NamedTuple):
    """Two kernels at one N: 1 where tiled is faster, -1 where standard is, 0 where quartiles overlap."""

    seqlen: int
    ahead: int


class Crossing(NamedTuple):
    """Where a tiled kernel overtakes standard.

    Attributes:
        low: The N up to which standard is faster, of those measured; None: not even at the first.
        high: The N from which on the tiled one is; None: not even at the last.
        measured: All N measured, rising.
        clear: Whether low and high are neighbours: between them nothing was measured.
    """

    low: int | None
    high: int | None
    measured: tuple[int, ...]
    clear: bool


def crossing(points: Sequence[LeadAt]) -> Crossing | None:
    """Where the two change places; None without any point.

    Where they are as fast, or change places several times, the interval spans all of that.
    """
    points = sorted(points)
    if not points:
        return None
    lengths = tuple(one.seqlen for one in points)
    first = next((k for k, one in enumerate(points) if one.ahead >= 0), len(points))
    last = next((k + 1 for k, one in reversed([*enumerate(points)]) if one.ahead <= 0), 0)
    return Crossing(
        low=lengths[first - 1] if first else None,
        high=lengths[last] if last < len(lengths) else None,
        measured=lengths,
        clear=first == last,
    )


def leads(rows: Sequence[PointRow], tiled: str) -> list[LeadAt]:
    """The problems at which both kernels are done."""
    done = {(row.kernel, row.problem): row for row in rows if row.done and row.times}
    found = []
    for (kernel, problem), row in done.items():
        partner = done.get((tiled, problem))
        if kernel == STANDARD and partner and row.times and partner.times:
            found.append(LeadAt(row.seqlen, _ahead(row.times, partner.times)))
    return found


def _ahead(standard: Quartiles, tiled: Quartiles) -> int:
    return (tiled.q3 < standard.q1) - (standard.q3 < tiled.q1)


def _run(problem: Problem) -> tuple[object, ...]:
    """What is run, of which others say nothing: the pass, query rows, lengths, pages, what scores become."""
    return pass_words(problem), problem.queries, layout_words(problem), scoring_words(problem)


class RecordedCrossing(NamedTuple):
    """A crossing on record: of which tiled kernel, at what shape (as `d 128, causal`), and where."""

    tiled: str
    shape: str
    crossing: Crossing


def recorded_crossing(
    rows: Sequence[PointRow], tiled: Sequence[str], problem: Problem
) -> RecordedCrossing | None:
    """The crossing on that curve of a session that is nearest to a problem.

    Args:
        rows: The session's points.
        tiled: Kernels, of which the last is taken that was measured beside standard.
        problem: One layer of a model, at any N.
    """
    run = _run(problem)
    curves = by_curve([row for row in rows if _run(row.problem) == run])
    for kernel in reversed(tiled):
        both = {curve: points for curve, members in curves.items() if (points := leads(members, kernel))}
        if both:
            curve = min(both, key=lambda one: distance(one, problem))
            found = crossing(both[curve])
            return RecordedCrossing(kernel, curve.label, found) if found else None
    return None


class Search:
    """Narrows a crossing down: says which N to measure next, and is told what they took.

    Attributes:
        points: What was measured so far.

    Args:
        first: The N to begin with, rising.
        most: How far to double the last of them where standard is not slower yet.
    """

    def __init__(self, first: Sequence[int], most: int = 0) -> None:
        self._first, self._most = tuple(first), most
        self.points: list[LeadAt] = []

    @property
    def found(self) -> Crossing | None:
        """What is known so far."""
        return crossing(self.points)

    def wanted(self) -> tuple[int, ...]:
        """The N to measure next; none: it is found, or there is none."""
        found = self.found
        if found is None:
            return self._first
        if found.high is None:
            further = 2 * found.measured[-1]
            return (further,) if further <= self._most else ()
        edges = [pair for pair in pairwise(found.measured) if found.low == pair[0] or found.high == pair[1]]
        return tuple(sorted({n for low, high in edges for n in _inner(low, high)}))

    def take(self, points: Sequence[LeadAt]) -> None:
        """Take in what was measured."""
        self.points.extend(points)


def _inner(low: int, high: int) -> set[int]:
    """Where to look between two N; nowhere where they are near enough."""
    width = high - low
    if width <= max(STEP, low // FINE):
        return set()
    inner = {low + width * k // PARTS // STEP * STEP for k in range(1, PARTS)}
    return {n for n in inner if low < n < high}
