"""How far runs of one sweep differ, for a terminal."""

from collections.abc import Sequence

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.compare.run_spread import PointSpread, point_spreads
from flashscope.profiles.results.compare.wording import percent
from flashscope.profiles.results.model.curves import curve_by_problem
from flashscope.profiles.results.model.session import Session

HEADINGS = ("kernel", "problem", "N", "median, ms", "spread between runs", "change found")


def print_spread(runs: Sequence[Session]) -> None:
    """Print of each point how far the medians of its runs differ, and what change as many again would show.

    The spread is the standard deviation of their logarithms, as a share.
    """
    points = point_spreads(runs)
    curves = curve_by_problem([point.row for point in points])
    lines = [
        (
            point.row.kernel,
            curves[point.row.problem].label,
            seqlen_text(point.row.seqlen),
            *_cells(point),
        )
        for point in points
    ]
    say(f"{len(runs)} run{'s' * (len(runs) > 1)} of one sweep")
    print_table(HEADINGS, lines, keys=3)


def _cells(point: PointSpread) -> tuple[str, str, str]:
    if point.median_ms is None:
        return (str(point.row.status), NOTHING, NOTHING)
    if point.share is None or point.found is None:
        return (f"{point.median_ms:.4g}", NOTHING, NOTHING)
    return (f"{point.median_ms:.4g}", percent(point.share), percent(point.found))
