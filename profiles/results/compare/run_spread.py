"""How far the runs of one plan differ, point by point."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flashscope.profiles.results.compare.run_pairs import least_found
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session


class PointSpread(NamedTuple):
    """One point in several runs.

    Attributes:
        row: The point in the first run.
        runs: How many of them measured it.
        median_ms: The geometric mean of the runs' medians, None where none measured it.
        share: The standard deviation of the logarithms of these medians, as a share; None of fewer than two.
        found: The least change that as many runs again would show, as a share; None where `share` is.
    """

    row: PointRow
    runs: int
    median_ms: float | None
    share: float | None
    found: float | None


def point_spreads(runs: Sequence[Session]) -> list[PointSpread]:
    """The spread of every point that the first run has, in its order."""
    first, *others = [rows(run) for run in runs]
    again = [{row.point: row for row in one} for one in others]
    points = [[row, *(one[row.point] for one in again if row.point in one)] for row in first]
    return [_spread(point, len(points)) for point in points]


def _spread(point: Sequence[PointRow], among: int) -> PointSpread:
    medians = [row.times.median for row in point if row.done and row.times]
    if not medians:
        return PointSpread(point[0], 0, None, None, None)
    logs = np.log(np.array(medians))
    typical = math.exp(logs.mean())
    if len(medians) < 2:  # noqa: PLR2004 - one run has no spread
        return PointSpread(point[0], 1, typical, None, None)
    share = math.expm1(float(logs.std(ddof=1)))
    return PointSpread(point[0], len(medians), typical, share, least_found(logs, among))
