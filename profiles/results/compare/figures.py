"""Pairs by figures without rounds on record: exact ones are equal or not, of others nothing is sure."""

import math

from flashscope.profiles.results.compare.evidence import Couple
from flashscope.profiles.results.compare.model import Pair
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.wire.measurement import Figure


def figure_pair(quantity: Quantity, couple: Couple) -> Pair:
    """What a pair says by its two figures."""
    base, other = couple.base_figure, couple.other_figure
    missing = _missing("the baseline", base) or _missing("the other session", other)
    if missing or base is None or other is None or base.value is None or other.value is None:
        return Pair(*couple.sides, reason=missing)
    ratio = other.value / base.value if base.value > 0 and other.value >= 0 else None
    ratio = ratio if ratio is not None and math.isfinite(ratio) else None
    if not quantity.exact:
        return Pair(*couple.sides, ratio=ratio, verdict="inconclusive", reason=_unsure(quantity, base, other))
    if base.value == other.value:
        return Pair(*couple.sides, ratio=1.0, ratio_low=1.0, ratio_high=1.0, verdict="equal")
    more = other.value > base.value
    return Pair(
        *couple.sides,
        ratio=ratio,
        ratio_low=ratio,
        ratio_high=ratio,
        verdict="more" if more else "less",
        better=improved(quantity, more=more),
    )


def improved(quantity: Quantity, *, more: bool) -> bool | None:
    """Whether more, or less, of a quantity is better; None: neither."""
    return None if quantity.better is None else more == (quantity.better == "higher")


def _missing(where: str, figure: Figure | None) -> str:
    """Why there is no figure there, empty where there is one."""
    if figure is None:
        return f"{where} has none"
    if figure.value is None:
        return f"{where} has none: {figure.missing}"
    return "" if math.isfinite(figure.value) else f"{where} has {figure.value}, which is no number"


def _unsure(quantity: Quantity, base: Figure, other: Figure) -> str:
    if quantity.relative:
        return "it is of two kernels: compare the runtime of each"
    if base.low is not None and other.low is not None:
        return "median and quartiles are on record, but no rounds"
    return "it is read once a session: nothing tells how far it scatters"
