"""What a build must not do to its predecessor: points that got worse, broke or are gone."""

from typing import NamedTuple

from flashscope.profiles.results.compare.model import Comparison, Pair


class Regressions(NamedTuple):
    """How many there are, over all the sessions compared with the baseline.

    Attributes:
        share: By how much a point must be worse to count; 0.05 is 5%.
        worse: Points that by their verdict are worse by at least that.
        broken: Points that were done and no longer are.
        missing: Points that were done and have no partner.
        unjudged: Sessions of which no point has a verdict, so that nothing speaks for them.
        inconclusive: Pairs done in both of which nothing sure is known; they are none.
        undecided: Pairs in which a change of this share would not have been found, see `Pair.decided`.
    """

    share: float
    worse: int
    broken: int
    missing: int
    unjudged: int
    inconclusive: int
    undecided: int

    @property
    def found(self) -> bool:
        """Whether there is one at all, or nothing that speaks against one."""
        return bool(self.worse or self.broken or self.missing or self.unjudged)


def regressions(comparison: Comparison, share: float) -> Regressions:
    """Count them."""
    worse = [pair for one in comparison.contrasts for pair in one.regressions(share)]
    broken = sum(pair.broke for pair in worse)
    missing = sum(len(one.missing) for one in comparison.contrasts)
    unjudged = sum(not any(pair.verdict for pair in one.pairs) for one in comparison.contrasts)
    unsure = sum(pair.unsure for one in comparison.contrasts for pair in one.pairs)
    undecided = len(undecided_pairs(comparison, share))
    return Regressions(share, len(worse) - broken, broken, missing, unjudged, unsure, undecided)


def undecided_pairs(comparison: Comparison, share: float) -> list[Pair]:
    """The pairs of which nobody knows whether they got worse by so much."""
    return [pair for one in comparison.contrasts for pair in one.pairs if not pair.decided(share)]
