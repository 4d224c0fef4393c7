"""Whether a comparison can decide anything: few rounds cannot do so among many pairs, however they differ."""

from collections.abc import Sequence
from itertools import count

from flashscope.profiles.results.compare.pair_tests import LEVEL
from flashscope.profiles.results.statistics.ranks import least_p


def shortfall(rounds: Sequence[tuple[int, int]]) -> str:
    """Why no pair can be called changed, and what would do; empty where one can be.

    Holm asks the smallest p-value to be the level over the number of pairs at most, and the exact rank test's
    smallest is that of rounds of which each of one side lies beyond all of the other.

    Args:
        rounds: How many each tested pair has, of the baseline and of the other session.
    """
    pairs = len(rounds)
    p, both = min(((least_p(*one), one) for one in set(rounds)), default=(0.0, (0, 0)))
    if p * pairs <= LEVEL:
        return ""
    enough = next(n for n in count(1) if least_p(n, n) * pairs <= LEVEL)
    had = " and ".join(map(str, dict.fromkeys(both)))
    return (
        f"{had} rounds cannot decide among {pairs:,} pairs, however much they differ: measure {enough} "
        f"rounds in both sessions, or compare at most {int(LEVEL / p):,} pairs."
    )
