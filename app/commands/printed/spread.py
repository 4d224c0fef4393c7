"""How far runs of one sweep differ, for a terminal."""

import math
from collections.abc import Sequence

import numpy as np

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.compare.run_pairs import least_found
from flashscope.profiles.results.compare.wording import percent
from flashscope.profiles.results.model.curves import curve_by_problem
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session

HEADINGS = ("kernel", "problem", "N", "median, ms", "spread between runs", "change found")


def print_spread(runs: Sequence[Session]) -> None:
    """Print of each point how far the medians of its runs differ, and what change as many again would show.

    The spread is the standard deviation of their logarithms, as a share.
    """
    points = [list(point) for point in zip(*(rows(run) for run in runs), strict=True)]
    curves = curve_by_problem([point[0] for point in points])
    lines = [
        (
            point[0].kernel,
            curves[point[0].problem].label,
            seqlen_text(point[0].seqlen),
            *_cells(point, len(points)),
        )
        for point in points
    ]
    say(f"{len(runs)} run{'s' * (len(runs) > 1)} of one sweep")
    print_table(HEADINGS, lines, keys=3)


def _cells(point: Sequence[PointRow], among: int) -> tuple[str, str, str]:
    medians = [row.times.median for row in point if row.done and row.times]
    if not medians:
        return (str(point[0].status), NOTHING, NOTHING)
    logs = np.log(np.array(medians))
    typical = f"{math.exp(logs.mean()):.4g}"
    if len(medians) < 2:  # noqa: PLR2004 - one run has no spread
        return (typical, NOTHING, NOTHING)
    return (typical, percent(math.expm1(logs.std(ddof=1))), percent(least_found(logs, among)))
