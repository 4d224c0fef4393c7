"""Compare a baseline with other sessions, or several runs with several others, by one quantity."""

from collections.abc import Sequence
from itertools import islice

from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.compare.circumstances import differences
from flashscope.profiles.results.compare.evidence import TIMED, Couple
from flashscope.profiles.results.compare.model import Comparison, Contrast, Pair
from flashscope.profiles.results.compare.noise import wander_of, wanders
from flashscope.profiles.results.compare.pairing import Pairing, pairings
from flashscope.profiles.results.compare.runs import RunSide, runs_of
from flashscope.profiles.results.compare.summary import pairs_summary
from flashscope.profiles.results.compare.verdicts import judged
from flashscope.profiles.results.model.curves import baselines
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import RUNTIME, favoured_baseline

MOST_OTHERS = 5


def compare(base: RunSide, others: Sequence[RunSide], quantity: Quantity = RUNTIME) -> Comparison:
    """The baseline beside each of the others; what is corrected for many tests is so over all of them.

    Sessions are read as they stand: one that still runs has points that are not measured yet.

    Raises:
        InputError: There is none to compare with, or there are more than five; or the runs of one side are
            not of one plan.
    """
    if not 1 <= len(others) <= MOST_OTHERS:
        raise InputError(f"Compare a baseline with 1 to {MOST_OTHERS} other sessions, not {len(others)}.")
    ours, theirs = runs_of(base), [runs_of(other) for other in others]
    found = pairings(ours[0], [runs[0] for runs in theirs])
    couples = [
        couple
        for runs, pairing in zip(theirs, found, strict=True)
        for couple in _couples(ours, runs, pairing, quantity)
    ]
    verdicts, caution = judged(quantity, couples)
    pairs = iter(verdicts)
    contrasts = tuple(
        _contrast(ours, runs, pairing, tuple(islice(pairs, len(pairing.pairs))), quantity)
        for runs, pairing in zip(theirs, found, strict=True)
    )
    return Comparison(quantity, ours[0], contrasts, caution)


def kernel_over(base: Session, quantity: Quantity) -> str | None:
    """What a relative quantity is over in every session: the favoured kernel of the baseline; else None."""
    return favoured_baseline(base.plan.kernels) if quantity.relative else None


def _contrast(
    base: Sequence[Session],
    other: Sequence[Session],
    pairing: Pairing,
    pairs: tuple[Pair, ...],
    quantity: Quantity,
) -> Contrast:
    found = differences(base[0], other[0], pairs)
    told = pairs_summary(quantity, pairs, (pairing.base_only, pairing.other_only), found)
    return Contrast(
        base[0],
        other[0],
        tuple(base),
        tuple(other),
        found,
        pairs,
        pairing.base_only,
        pairing.other_only,
        told,
    )


def _couples(
    base: Sequence[Session], other: Sequence[Session], pairing: Pairing, quantity: Quantity
) -> list[Couple]:
    """The pairs with their figures, their points in every run, and how far their kernels wandered."""
    sides = tuple(zip(*pairing.pairs, strict=True)) or ((), ())
    over = kernel_over(base[0], quantity)
    ours, theirs = (baselines(rows, over) for rows in sides)
    timed = quantity.kind in TIMED
    wandered = [wanders(side[0]) if timed else {} for side in (base, other)]
    again = [[{row.point.index: row for row in rows(run)} for run in side[1:]] for side in (base, other)]
    return [
        Couple(
            mine,
            yours,
            quantity.figure(mine, ours.get(mine.problem)),
            quantity.figure(yours, theirs.get(yours.problem)),
            max(wander_of(mine, wandered[0]), wander_of(yours, wandered[1])),
            (mine, *(run[mine.point.index] for run in again[0])),
            (yours, *(run[yours.point.index] for run in again[1])),
        )
        for mine, yours in pairing.pairs
    ]
