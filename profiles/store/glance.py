"""A session at a glance: its runtimes over N, reading no more points than a stamp can show."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.store.opening import being_written, opened
from flashscope.profiles.store.points import read_some_points
from flashscope.profiles.store.reader import read_head, validating

MOST_LENGTHS = 64


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """What a preview draws.

    Attributes:
        label: Head dim and mask of the curves; empty: there are no points.
        curves: Of each kernel (N, median runtime in ms), rising in N, of done points of the first problem; of
            many lengths some.
        others: How many other problems the session has.
        altered: How many of the points that were looked at are not those that were written.
        recorded: Whether it is being recorded; what else its file calls running was broken off.
    """

    label: str
    curves: dict[str, tuple[tuple[int, float], ...]]
    others: int = 0
    altered: int = 0
    recorded: bool = False


def glance(path: Path) -> Glance:
    """Look at a session.

    Raises:
        SessionFileError: It cannot be opened.
    """
    with validating(path), opened(path) as connection:
        _head, plan, _machine = read_head(connection)
        if not plan.problems:
            return Glance(label="", curves={}, recorded=being_written(path))
        planned = [PointRow.of(plan.backend, PointState(point, 0)) for point in plan.points()[: plan.cells]]
        every = by_curve(planned)
        first, *others = every
        states = read_some_points(connection, plan, _some(every[first]))
    rows = [PointRow.of(plan.backend, state) for state in states]
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row.done and row.times:
            curves.setdefault(row.kernel, []).append((row.seqlen, row.times.median))
    return Glance(
        label=first.label,
        curves={kernel: tuple(sorted(curve)) for kernel, curve in curves.items()},
        others=len(others),
        altered=sum(row.status == "altered" for row in rows),
        recorded=being_written(path),
    )


def _some(members: Sequence[PointRow]) -> list[int]:
    """The indices of the points at some lengths, the least and the largest among them."""
    lengths = sorted({row.seqlen for row in members})
    last, most = len(lengths) - 1, min(MOST_LENGTHS, len(lengths))
    shown = {lengths[round(last * k / max(1, most - 1))] for k in range(most)}
    return [row.point.index for row in members if row.seqlen in shown]
