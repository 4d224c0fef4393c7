"""The figures of points as the cells of a table."""

from collections.abc import Callable, Mapping, Sequence

from flashscope.app.words.kinds import words_of
from flashscope.app.words.one_unit import unit_of
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.measurement import Figure

NOTHING = "-"


def shown_of(rows: Sequence[PointRow]) -> list[Quantity]:
    """The main quantities that say something of any of these points."""
    main = (quantity for quantity in QUANTITIES.values() if not quantity.detail)
    return [quantity for quantity in main if quantity.relative or any(map(quantity.says, rows))]


def column(
    quantity: Quantity, rows: Sequence[PointRow], baselines: Mapping[Problem, PointRow]
) -> tuple[str, list[str]]:
    """A quantity's name with its unit and what stands in brackets, and its figures with their spread.

    Args:
        quantity: Whose column it is.
        rows: The points, a line each.
        baselines: What relative quantities are over, by the problem.
    """
    figures = [quantity.figure(row, baselines.get(row.problem)) for row in rows]
    values = [float(one.value) for one in figures if one is not None and one.value is not None]
    unit = unit_of(quantity, values)
    name = f"{quantity.short}, {unit.name}" if unit else quantity.short
    ends = f" ({' .. '.join(quantity.ends)})" if len(quantity.names) > 1 else ""
    write = unit.write if unit else words_of(quantity).text
    return name + ends, [_with_spread(one, write) for one in figures]


def spread_text(quantity: Quantity, figure: Figure | None) -> str:
    """A figure with its unit and its spread, or a dash for none."""
    return _with_spread(figure, words_of(quantity).text)


def _with_spread(figure: Figure | None, write: Callable[[float], str]) -> str:
    if figure is None or figure.value is None:
        return NOTHING
    if figure.low is None or figure.high is None:
        return write(figure.value)
    return f"{write(figure.value)} ({write(figure.low)} .. {write(figure.high)})"
