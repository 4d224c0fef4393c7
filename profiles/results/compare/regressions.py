"""What a build must not do to its predecessor: points that got worse, broke or are gone."""

from typing import NamedTuple

from profiles.results.compare.model import Comparison


class Regressions(NamedTuple):
    """How many there are, over all the sessions compared with the baseline.

    Attributes:
        share: By how much a point must be worse to count; 0.05 is 5%.
        worse: Points that by their verdict are worse by at least that.
        broken: Points that were done and no longer are.
        missing: Points that were done and have no partner.
    """

    share: float
    worse: int
    broken: int
    missing: int

    @property
    def any(self) -> bool:
        """Whether there is one at all."""
        return bool(self.worse or self.broken or self.missing)


def regressions(comparison: Comparison, share: float) -> Regressions:
    """Count them."""
    worse = [pair for one in comparison.contrasts for pair in one.regressions(share)]
    broken = sum(pair.broke for pair in worse)
    missing = sum(len(one.missing) for one in comparison.contrasts)
    return Regressions(share, len(worse) - broken, broken, missing)
