"""A session at a glance: its runtimes over N, without reading its samples into memory."""

import math
from pathlib import Path

import msgspec

from profiles.results.curves import by_curve
from profiles.results.rows import PointRow
from profiles.results.session import PointState
from profiles.store.opening import opened
from profiles.store.reader import read_head, validating

# SQLite works the medians out; a text, which stands for NaN, is no number to it.
MEDIANS = """SELECT point, avg(ms) FROM (
  SELECT point, ms, row_number() OVER (PARTITION BY point ORDER BY ms) AS k,
    count(*) OVER (PARTITION BY point) AS n
  FROM samples JOIN points USING (point)
  WHERE rejected IS NULL AND status = 'done' AND typeof(ms) = 'real'
) WHERE k IN ((n + 1) / 2, n / 2 + 1) GROUP BY point"""


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """What a preview draws.

    Attributes:
        label: Head dim and mask of the curves.
        curves: Of each kernel (N, median runtime in ms), rising in N, of done points of the first problem;
            digests are not looked at.
        others: How many other problems the session has.
    """

    label: str
    curves: dict[str, tuple[tuple[int, float], ...]]
    others: int = 0


def glance(path: Path) -> Glance:
    """Look at a session.

    Raises:
        SessionFileError: It cannot be opened.
    """
    with validating(path), opened(path) as connection:
        _head, plan, _machine = read_head(connection)
        medians = dict(connection.execute(MEDIANS))
    points = plan.points()[: plan.cells]
    every = by_curve([PointRow.of(plan.backend, PointState(point, 0)) for point in points])
    first, *others = every
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in every[first]:
        median = medians.get(row.point.index)
        if isinstance(median, float) and 0 < median < math.inf:
            curves.setdefault(row.kernel, []).append((row.seqlen, median))
    return Glance(
        label=first.label,
        curves={kernel: tuple(sorted(curve)) for kernel, curve in curves.items()},
        others=len(others),
    )
