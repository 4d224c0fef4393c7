"""Whether kernels of one run differ in runtime, by the tests that sessions are compared with."""

import math
from collections.abc import Mapping, Sequence

from flashscope.profiles.results.compare.evidence import Couple, Rounds, rounds_of
from flashscope.profiles.results.compare.noise import Wander, least_change, wander_of
from flashscope.profiles.results.compare.pair_tests import pair_tests
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.results.statistics.bootstrap import LEAST_ROUNDS


def differ_significantly(
    row: PointRow, others: Sequence[PointRow], wandered: Mapping[str, Wander]
) -> list[bool]:
    """Whether each of the others runs in another time than this one, for all that the rounds tell.

    Args:
        row: A point with rounds (see `has_rounds`).
        others: Points with rounds at the same place.
        wandered: How far kernels were off when their session measured them again.
    """
    first, rest = _rounds(row), [_rounds(other) for other in others]
    many = [min(_count(first), _count(one)) >= LEAST_ROUNDS for one in rest]
    couples = [_couple(row, other, wandered) for other in others]
    tested = iter(
        pair_tests(
            [couple for couple, enough in zip(couples, many, strict=True) if enough],
            [(first, one) for one, enough in zip(rest, many, strict=True) if enough],
            RUNTIME.kind,
        )
    )
    return [
        next(tested).differs if enough else _parted(first, one, couple.wander)
        for enough, one, couple in zip(many, rest, couples, strict=True)
    ]


def has_rounds(row: PointRow) -> bool:
    """Whether a point has rounds, each of which can be a measurement."""
    return rounds_of(RUNTIME, row) is not None


def _parted(one: Rounds, other: Rounds, wander: float) -> bool:
    """Of too few rounds for a test: whether every one of them is on its own side, and as far as counts."""
    low, high = sorted((one.figures, other.figures), key=lambda series: series.median)
    least = least_change(scatters=(one.scatter, other.scatter), wander=wander)
    return low.values[-1] < high.values[0] and math.log(high.median / low.median) >= math.log1p(least)


def _rounds(row: PointRow) -> Rounds:
    rounds = rounds_of(RUNTIME, row)
    if rounds is None:
        raise ValueError(f"{row.kernel} at N = {row.seqlen} has no rounds")
    return rounds


def _count(rounds: Rounds) -> int:
    return len(rounds.figures.values)


def _couple(row: PointRow, other: PointRow, wandered: Mapping[str, Wander]) -> Couple:
    return Couple(row, other, None, None, max(wander_of(one, wandered) for one in (row, other)))
