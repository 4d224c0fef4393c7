"""From rows to what a plot draws: one series a kernel, with gaps where there is no value."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import UNFINISHED
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.wire.measurement import Figure, Number

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Failure:
    """A point that ended without a value to draw."""

    kernel: str
    seqlen: int
    status: str
    reason: str
    part: int = 1  # of its session


def failure_text(failure: Failure) -> str:
    """What the tooltip of its glyph says."""
    word = STATUS_MARKS[failure.status].word
    reason = f": {failure.reason}" if failure.reason else ""
    part = f", part {failure.part}" if failure.part > 1 else ""
    return f"{failure.kernel}, N = {failure.seqlen}{part}, {word}{reason}"


@dataclass(frozen=True)
class Series:
    """One kernel of one quantity; arrays are float64 (points,), NaN where there is none.

    Attributes:
        kernel: Its name.
        seqlen: Sequence lengths, rising.
        value: The figure; NaN for every point that is not done, so that no line crosses it.
        low: Lower end of the spread.
        high: Upper end of the spread.
        model: The figure by theory.
        beside: The figure by another instrument.
        failures: What stands on the top rail.
        running: The sequence length in flight, None when there is none.
        doubted: Whether the value is one of samples that are not trusted (bool); empty: none is.
    """

    kernel: str
    seqlen: Values
    value: Values
    low: Values
    high: Values
    model: Values
    beside: Values
    failures: tuple[Failure, ...]
    running: int | None
    doubted: NDArray[np.bool_] = field(default_factory=lambda: np.array([], dtype=np.bool_))

    def is_doubted(self, seqlen: int) -> bool:
        """Whether its value at a sequence length is not to be trusted."""
        return bool(self.doubted.size and self.doubted[self.seqlen == seqlen].any())

    def at(self, seqlen: int, column: Values | None = None) -> float | None:
        """The value, or another column's entry, at one sequence length; None when there is none."""
        entry = (self.value if column is None else column)[self.seqlen == seqlen]
        return float(entry[0]) if entry.size and np.isfinite(entry[0]) else None


def kernels_of(rows: Sequence[PointRow]) -> tuple[str, ...]:
    """The kernels in the order of their first row."""
    return tuple(dict.fromkeys(row.kernel for row in rows))


def seqlens_of(rows: Sequence[PointRow]) -> tuple[int, ...]:
    """The sequence lengths at which a point has ended, rising; the crosshair stands on one of them."""
    return tuple(sorted({row.seqlen for row in rows if row.status not in UNFINISHED}))


def extract(rows: Sequence[PointRow], quantity: Quantity, baseline: str | None = None) -> list[Series]:
    """One series for each kernel; a sequence length measured twice shows its last row."""
    return list(each_series(rows, quantity, baseline))


def each_series(
    rows: Sequence[PointRow], quantity: Quantity, baseline: str | None = None
) -> Iterator[Series]:
    """The same one by one: of thousands of points all at once take too long."""
    table = {(row.kernel, row.seqlen): row for row in rows}
    base = {seqlen: row for (kernel, seqlen), row in table.items() if kernel == baseline and row.done}
    by_kernel: dict[str, list[PointRow]] = {kernel: [] for kernel in kernels_of(rows)}
    for row in table.values():
        by_kernel[row.kernel].append(row)
    for kernel, members in by_kernel.items():
        yield _series(kernel, sorted(members, key=lambda row: row.seqlen), quantity, base)


def _series(kernel: str, rows: Sequence[PointRow], quantity: Quantity, base: dict[int, PointRow]) -> Series:
    figures = [_figure(quantity, row, base) for row in rows]
    return Series(
        kernel=kernel,
        seqlen=np.array([row.seqlen for row in rows], dtype=np.float64),
        value=_column(figure.value for figure in figures),
        low=_column(figure.low for figure in figures),
        high=_column(figure.high for figure in figures),
        model=_column(quantity.model(row) if quantity.model else None for row in rows),
        beside=_column(quantity.beside(row) if quantity.beside else None for row in rows),
        failures=tuple(
            Failure(kernel, row.seqlen, row.status, row.reason, row.part or 1)
            for row in rows
            if row.status not in UNFINISHED and not row.done
        ),
        running=next((row.seqlen for row in rows if row.status == "running"), None),
        doubted=np.array([_doubted(quantity, row, base) for row in rows], dtype=np.bool_),
    )


def _doubted(quantity: Quantity, row: PointRow, base: dict[int, PointRow]) -> bool:
    """Whether its samples are not trusted, or those of what a relative quantity is over."""
    over = base.get(row.seqlen) if quantity.relative else None
    return not quantity.exact and any(_is_doubtful(one) for one in (row, over) if one is not None)


def _is_doubtful(row: PointRow) -> bool:
    return row.done and row.trust is not None and row.trust.word == "doubtful"


def _figure(quantity: Quantity, row: PointRow, base: dict[int, PointRow]) -> Figure:
    """The figure of a point that is done; one without a value for all others."""
    figure = quantity.figure(row, base.get(row.seqlen)) if row.done else None
    return figure or Figure()


def _column(values: Iterable[Number | None]) -> Values:
    """NaN where there is none."""
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
