"""Compare a baseline with other sessions by one quantity."""

from collections.abc import Sequence
from itertools import islice

from kernels.errors import InputError
from profiles.results.compare.circumstances import differences
from profiles.results.compare.evidence import TIMED, Couple
from profiles.results.compare.model import Comparison, Contrast, Pair
from profiles.results.compare.noise import wander_of, wanders
from profiles.results.compare.pairing import Pairing, pairings
from profiles.results.compare.summary import summary
from profiles.results.compare.verdicts import judged
from profiles.results.curves import baselines
from profiles.results.quantities import RUNTIME, favoured_baseline
from profiles.results.quantity import Quantity
from profiles.results.session import Session

MOST_OTHERS = 5


def compare(base: Session, others: Sequence[Session], quantity: Quantity = RUNTIME) -> Comparison:
    """The baseline beside each of the others; what is corrected for many tests is so over all of them.

    Sessions are read as they stand: one that still runs has points that are not measured yet.

    Raises:
        InputError: There is none to compare with, or there are more than five.
    """
    if not 1 <= len(others) <= MOST_OTHERS:
        raise InputError(f"Compare a baseline with 1 to {MOST_OTHERS} other sessions, not {len(others)}.")
    found = pairings(base, others)
    couples = [
        couple
        for other, pairing in zip(others, found, strict=True)
        for couple in _couples(base, other, pairing, quantity)
    ]
    verdicts, caution = judged(quantity, couples)
    pairs = iter(verdicts)
    contrasts = tuple(
        _contrast(base, other, pairing, tuple(islice(pairs, len(pairing.pairs))), quantity)
        for other, pairing in zip(others, found, strict=True)
    )
    return Comparison(quantity, base, contrasts, caution)


def _contrast(
    base: Session, other: Session, pairing: Pairing, pairs: tuple[Pair, ...], quantity: Quantity
) -> Contrast:
    found = differences(base, other, pairs)
    told = summary(quantity, pairs, pairing.base_only, found)
    return Contrast(base, other, found, pairs, pairing.base_only, pairing.other_only, told)


def _couples(base: Session, other: Session, pairing: Pairing, quantity: Quantity) -> list[Couple]:
    """The pairs with their figures and how far their kernels wandered."""
    sides = tuple(zip(*pairing.pairs, strict=True)) or ((), ())
    kernel = favoured_baseline(base.plan.kernels) if quantity.relative else None
    ours, theirs = (baselines(rows, kernel) for rows in sides)
    timed = quantity.kind in TIMED
    wandered = [wanders(session) if timed else {} for session in (base, other)]
    return [
        Couple(
            mine,
            yours,
            quantity.figure(mine, ours.get(mine.problem)),
            quantity.figure(yours, theirs.get(yours.problem)),
            max(wander_of(mine, wandered[0]), wander_of(yours, wandered[1])),
        )
        for mine, yours in pairing.pairs
    ]
