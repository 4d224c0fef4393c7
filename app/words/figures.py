"""The figures of points as the cells of a table."""

from collections.abc import Sequence

from app.words.kinds import words_of
from profiles.results.quantities import QUANTITIES
from profiles.results.quantity import Quantity
from profiles.results.rows import PointRow
from profiles.wire.measurement import Figure

NOTHING = "-"


def shown_of(rows: Sequence[PointRow]) -> list[Quantity]:
    """The main quantities that say something of any of these points."""
    main = (quantity for quantity in QUANTITIES.values() if not quantity.detail)
    return [quantity for quantity in main if quantity.relative or any(map(quantity.says, rows))]


def spread_heading(quantity: Quantity) -> str:
    """A quantity's name, and what stands in brackets behind its values."""
    return f"{quantity.short} ({' .. '.join(quantity.ends)})" if len(quantity.names) > 1 else quantity.short


def figure_text(quantity: Quantity, row: PointRow, baseline: PointRow | None) -> str:
    """A figure with its spread."""
    return spread_text(quantity, quantity.figure(row, baseline))


def spread_text(quantity: Quantity, figure: Figure | None) -> str:
    """A figure with its spread, or a dash for none."""
    text = words_of(quantity).text
    if figure is None or figure.value is None:
        return NOTHING
    if figure.low is None or figure.high is None:
        return text(figure.value)
    return f"{text(figure.value)} ({text(figure.low)} .. {text(figure.high)})"
