"""What of a session the Traffic page shows: which curves there are, and why others are not."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from flashscope.app.words.units import ms_text
from flashscope.profiles.results.model.curves import Curve, by_curve
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.registry import FAVOURED_BASELINE
from flashscope.profiles.wire.text import listed
from flashscope.profiles.wire.traffic import Traffic

NO_SESSION = (
    "What one run of a kernel reads from DRAM and writes to it, over its time: the launches of standard "
    "stand like walls, a tiled kernel hardly shows.\n\n"
    "Open a session that was measured with counters, or measure with them (--counters on the command line) "
    "on an NVIDIA GPU."
)
NOT_ASKED = (
    "This session was measured without hardware counters, so that nobody knows what crossed the DRAM bus.\n\n"
    "Measure again with counters (--counters on the command line). For the forward pass there are formulas "
    "all the same: click on the title of a plot among the curves."
)
TOO_SLOW = 4  # times the next slower run
FEWEST = 2  # kernels that stay on show
MOST_STAGED = 3  # side by side on a stage
NS_IN_MS = 1e6


class CountedPoint(NamedTuple):
    """A point and the curve that it has."""

    row: PointRow
    traffic: Traffic


def groups(rows: Sequence[PointRow]) -> dict[Curve, dict[int, list[CountedPoint]]]:
    """The points that have a curve, by problem and by N."""
    found: dict[Curve, dict[int, list[CountedPoint]]] = {}
    for curve, members in by_curve(rows).items():
        for row in members:
            traffic = row.measurement.traffic if row.measurement and row.done else None
            if traffic is not None and traffic.bins:
                found.setdefault(curve, {}).setdefault(row.seqlen, []).append(CountedPoint(row, traffic))
    return found


def nearest(seqlens: Sequence[int], wanted: int | None) -> int:
    """The one that is wanted, else the nearest to it; with no wish the longest."""
    return max(seqlens) if wanted is None else min(seqlens, key=lambda n: (abs(n - wanted), n))


def too_slow(shown: Sequence[CountedPoint]) -> list[str]:
    """Kernels whose run is so long that on its axis the others' would be a line; two at least are left.

    The baseline is none of them: the others are there to be seen beside it.
    """
    slowest_first = sorted(shown, key=lambda one: -one.traffic.run_ns)
    hidden: list[str] = []
    for one, following in pairwise(slowest_first[: 1 - FEWEST] if len(shown) > FEWEST else ()):
        slow = one.traffic.run_ns > TOO_SLOW * following.traffic.run_ns
        if not slow or one.row.kernel == FAVOURED_BASELINE:
            break
        hidden.append(one.row.kernel)
    return hidden


def telling(shown: Sequence[CountedPoint]) -> list[CountedPoint]:
    """The baseline and the fastest, as many as an audience can tell apart."""
    fastest = sorted(shown, key=lambda one: one.traffic.run_ns)
    base = [one for one in fastest[1:] if one.row.kernel == FAVOURED_BASELINE]
    return [*base, *fastest[: FEWEST - len(base)]]


def named(shown: Sequence[CountedPoint], kernels: Collection[str]) -> list[CountedPoint]:
    """Those of these kernels, or all where none is named."""
    return [one for one in shown if not kernels or one.row.kernel in kernels]


def staged(shown: Sequence[CountedPoint], kernels: Collection[str]) -> list[CountedPoint]:
    """The same; of more than stand side by side on a stage the telling."""
    wanted = named(shown, kernels)
    return telling(wanted) if len(wanted) > MOST_STAGED else wanted


def hidden_kernels_text(shown: Sequence[CountedPoint], hidden: Collection[str], *, chosen: bool) -> str:
    """Which kernels are hidden that the user did not hide, and that all are; empty otherwise."""
    if len(hidden) == len(shown):
        return "All kernels are hidden: click on a name to show one."
    left = [one for one in shown if one.row.kernel in hidden and not chosen]
    times = ", ".join(f"{one.row.kernel} ({ms_text(one.traffic.run_ns / NS_IN_MS)} a run)" for one in left)
    return (
        f"Hidden, because it would stretch the axis: {times}; click on its name to show it." if times else ""
    )


def why_none(rows: Sequence[PointRow] | None) -> str:
    """Why there is nothing to show of these rows; None: there is no session."""
    if rows is None:
        return NO_SESSION
    figures = (row.measured("dram_read_bytes") for row in rows)
    missing = next((figure.missing for figure in figures if figure is not None and figure.missing), "")
    return f"No traffic was counted in this session: {missing}." if missing else NOT_ASKED


def none_of_curve(curve: Curve, counted: Sequence[Curve]) -> str:
    """Why there is nothing to show of these problems, while others of the session have curves."""
    return f"No traffic was counted of {curve.label} in this session; of {_joined(counted)} it was."


def _joined(curves: Sequence[Curve]) -> str:
    return listed([curve.label for curve in curves], between="; ")


def others(rows: Sequence[PointRow], shown: Sequence[CountedPoint]) -> str:
    """Which kernels at the same N have no curve, and why, in a line; empty when all have one."""
    if not shown:
        return ""
    first, named = shown[0].row, {one.row.kernel for one in shown}
    left = [row for row in rows if row.seqlen == first.seqlen and row.kernel not in named]
    told = {row.kernel: _reason(row) for row in left}
    return "; ".join(f"{kernel}: {why}" for kernel, why in told.items())


def _reason(row: PointRow) -> str:
    figure = row.measured("dram_read_bytes")
    if figure is not None and figure.missing:
        return figure.missing
    return "no curve was counted" if row.done else row.status
