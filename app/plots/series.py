"""From rows to what a plot draws: one series a kernel, with gaps where there is no value."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.plots.metric import Figure, Metric
from profiles.summary import PointRow

Values = NDArray[np.float64]
UNFINISHED = frozenset({"pending", "running"})


@dataclass(frozen=True)
class Failure:
    """A point that ended without a value to draw."""

    kernel: str
    seqlen: int
    status: str
    reason: str


@dataclass(frozen=True)
class Series:
    """One kernel of one metric; arrays are float64 (points,), NaN where there is none.

    Attributes:
        kernel: Its name.
        seqlen: Sequence lengths, rising.
        value: The figure; NaN for every point that is not done, so that no line crosses it.
        low: Lower end of the spread.
        high: Upper end of the spread.
        model: The figure by theory.
        failures: What stands on the top rail.
        running: The sequence length in flight, None when there is none.
    """

    kernel: str
    seqlen: Values
    value: Values
    low: Values
    high: Values
    model: Values
    failures: tuple[Failure, ...]
    running: int | None

    def at(self, seqlen: int, column: Values | None = None) -> float | None:
        """The value, or another column's entry, at one sequence length; None when there is none."""
        found = (self.value if column is None else column)[self.seqlen == seqlen]
        return float(found[0]) if found.size and np.isfinite(found[0]) else None


def kernels_of(rows: Sequence[PointRow]) -> tuple[str, ...]:
    """The kernels in the order of their first row."""
    return tuple(dict.fromkeys(row.kernel for row in rows))


def telling_seqlen(rows: Sequence[PointRow]) -> int | None:
    """The sequence length that compares most: the longest of those that most kernels have done."""
    done = Counter(row.seqlen for row in rows if row.status == "done")
    return max(seqlens_of(rows), key=lambda n: (done[n], n), default=None)


def seqlens_of(rows: Sequence[PointRow]) -> tuple[int, ...]:
    """Every sequence length that has an outcome, rising: where a crosshair may stand."""
    return tuple(sorted({row.seqlen for row in rows if row.status not in UNFINISHED}))


def extract(rows: Sequence[PointRow], metric: Metric, baseline: str | None = None) -> list[Series]:
    """One series for each kernel; a sequence length measured twice shows its last row."""
    table = {(row.kernel, row.seqlen): row for row in rows}
    base = {seqlen: row for (kernel, seqlen), row in table.items() if kernel == baseline and _done(row)}
    return [
        _series(
            kernel, sorted((row for row in table.values() if row.kernel == kernel), key=_seqlen), metric, base
        )
        for kernel in kernels_of(rows)
    ]


def _series(kernel: str, rows: Sequence[PointRow], metric: Metric, base: dict[int, PointRow]) -> Series:
    done = [row if _done(row) else None for row in rows]
    return Series(
        kernel=kernel,
        seqlen=np.array([row.seqlen for row in rows], dtype=np.float64),
        value=_column(done, metric.value, base),
        low=_column(done, metric.low, base),
        high=_column(done, metric.high, base),
        model=_column(rows, metric.model, base),
        failures=tuple(
            Failure(kernel, row.seqlen, row.status, row.reason)
            for row in rows
            if row.status not in UNFINISHED and not _done(row)
        ),
        running=next((row.seqlen for row in rows if row.status == "running"), None),
    )


def _column(rows: Sequence[PointRow | None], figure: Figure | None, base: dict[int, PointRow]) -> Values:
    def cell(row: PointRow | None) -> float:
        found = None if row is None or figure is None else figure(row, base.get(row.seqlen))
        return np.nan if found is None else float(found)

    return np.array([cell(row) for row in rows], dtype=np.float64)


def _done(row: PointRow) -> bool:
    return row.status == "done"


def _seqlen(row: PointRow) -> int:
    return row.seqlen
