"""What a change is called, and how large it is said to be."""

from flashscope.profiles.results.compare.evidence import TIMED
from flashscope.profiles.results.compare.figures import improved
from flashscope.profiles.results.compare.model import PairVerdict
from flashscope.profiles.results.quantities.quantity import Quantity


def change_word(quantity: Quantity, *, more: bool) -> PairVerdict:
    """What a change of a quantity is called."""
    better = improved(quantity, more=more)
    if better is None or quantity.kind not in TIMED:
        return "more" if more else "less"
    return "faster" if better else "slower"


def change_text(change: float, word: PairVerdict) -> str:
    """How large a change is, under its word: twice as long is 100% slower and half as long 100% faster.

    Half as much is 50% less, though, as what is 100% less is nothing; a tenth of it is 10× less.

    Args:
        change: The larger value over the smaller, less 1.
        word: What the change is called.
    """
    told = percent(change)
    return percent(change / (1 + change)) if word == "less" and told.endswith("%") else told


def percent(share: float) -> str:
    """A share of a change, with one decimal below 10%; from ten times on the factor, which reads better."""
    if share >= 9:  # noqa: PLR2004 - ten times as much
        return f"{1 + share:,.0f}×"
    return f"{100 * share:.1f}%" if share < 0.0995 else f"{100 * share:.0f}%"  # noqa: PLR2004 - reads 10%
