"""What keeps points from deciding anything: one that is not done in a run, or that cannot be trusted."""

from collections.abc import Sequence
from dataclasses import replace

from flashscope.profiles.results.compare.evidence import Couple
from flashscope.profiles.results.compare.model import Pair
from flashscope.profiles.results.model.rows import PointRow


def not_done(couple: Couple) -> Couple | None:
    """The pair by the runs in which a point is not done; None: it is done in all."""
    base, other = (_not_done(side) for side in (couple.base_runs, couple.other_runs))
    if base is None and other is None:
        return None
    return couple._replace(base=base or couple.base, other=other or couple.other)


def doubted(pair: Pair, couple: Couple) -> Pair:
    """The pair as it was tested, without a verdict where a point may not decide."""
    if pair.p is None or not (reason := _doubts(couple)):
        return pair
    return replace(pair, verdict="inconclusive", better=None, detectable=None, reason=reason)


def _doubts(couple: Couple) -> str:
    """Why a point may not decide; empty where both may.

    What is impossible never may. What makes a point doubtful is mostly how its samples scatter: of several
    runs a side that is in what differs between these, so that the test knows it.
    """
    one_each = len(couple.base_runs) == len(couple.other_runs) == 1
    words = {"doubtful", "impossible"} if one_each else {"impossible"}
    for whose, runs in (("the baseline's", couple.base_runs), ("the other's", couple.other_runs)):
        for trust in (row.trust for row in runs):
            if trust is not None and trust.word in words:
                return f"{whose} point is {trust.word}: {trust.reasons[0]}"
    return ""


def _not_done(runs: Sequence[PointRow]) -> PointRow | None:
    return next((row for row in runs if not row.done), None)
