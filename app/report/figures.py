"""The tables of a report: ratios, what every point yielded, and what could not be measured."""

from collections import Counter
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

from flashscope.app.figures.series import kernels_of
from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.report.markup import table_element, tag
from flashscope.app.words.figures import NOTHING, column, shown_of
from flashscope.app.words.units import digits, ms_text, ratio_text, seqlen_text
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare.noise import Wander
from flashscope.profiles.results.findings.fastest import fastest_of
from flashscope.profiles.results.findings.ratios import Standings
from flashscope.profiles.results.findings.rounds import speedup_interval
from flashscope.profiles.results.model.curves import curve_by_problem
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import UNFINISHED
from flashscope.profiles.results.model.trust import WORDS
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import THROUGHPUT

Baselines = Mapping[Problem, PointRow]


def standings_table(standings: Standings) -> Element:
    """Each kernel's ratios to the baseline: their mean, and the worst with its place."""
    lines = []
    for kernel, mean in standings.means.items():
        if kernel in standings.peers:
            continue
        worst = standings.worst[kernel]
        compared = sum(kernel in contest.ratios for contest in standings.contests)
        where = f"{worst.contest.curve.label}, N = {seqlen_text(worst.contest.seqlen)}"
        lines.append(
            (
                kernel,
                str(compared),
                ratio_text(mean),
                ratio_text(worst.ratio),
                _interval(standings, kernel),
                where,
            )
        )
    headings = ("kernel", "problems", "geometric mean", "least", "its 95% interval", "where")
    return table_element(headings, lines)


def _interval(standings: Standings, kernel: str) -> str:
    """Of the worst ratio, from the rounds in which the two took turns."""
    contest = standings.worst[kernel].contest
    interval = speedup_interval(contest.rows[kernel], contest.rows[contest.peer])
    return NOTHING if interval is None else f"{interval.low:.3f} .. {interval.high:.3f}"


def over_seqlen(rows: Sequence[PointRow], wandered: Mapping[str, Wander]) -> Element:
    """Kernels down, N across: median runtime and throughput.

    The fastest exact one of each N is bold, with all that are as fast within the noise.

    Args:
        rows: Of one curve.
        wandered: See `profiles.results.compare.noise.wanders`.
    """
    by_place = {(row.kernel, row.seqlen): row for row in rows}
    seqlens, kernels = sorted({row.seqlen for row in rows}), kernels_of(rows)
    best = {n: fastest_of([row for row in by_place.values() if row.seqlen == n], wandered) for n in seqlens}
    lines = [(kernel, *(_cell(by_place.get((kernel, n)), best[n]) for n in seqlens)) for kernel in kernels]
    return table_element(("runtime, TFLOP/s", *(f"N = {seqlen_text(n)}" for n in seqlens)), lines)


def _cell(row: PointRow | None, best: Sequence[PointRow]) -> Element | str:
    if row is None:
        return NOTHING
    if not row.done or row.times is None:
        return STATUS_MARKS[row.status].word
    rate = value_of(THROUGHPUT, row)
    text = ms_text(row.times.median) + ("" if rate is None else f", {digits(rate)}")
    return tag("b", text) if any(row is one for one in best) else text


def all_figures(rows: Sequence[PointRow], baselines: Baselines) -> Element:
    """A line for each point with every main figure, and its part where the session has several."""
    columns = [column(quantity, rows, baselines) for quantity in shown_of(rows)]
    parted = any((row.part or 1) > 1 for row in rows)
    lines = [
        (
            row.kernel,
            seqlen_text(row.seqlen),
            STATUS_MARKS[row.status].word,
            row.trust.word if row.trust else NOTHING,
            *([str(row.part or NOTHING)] if parted else ()),
            *(cells[place] for _, cells in columns),
        )
        for place, row in enumerate(rows)
    ]
    named = (heading for heading, _ in columns)
    headings = ("kernel", "N", "status", "trust", *(["part"] if parted else ()), *named)
    words = f"All figures of {len(lines)} points"
    return tag("details", tag("summary", words), table_element(headings, lines))


def not_done(rows: Sequence[PointRow]) -> Element | None:
    """The points without a figure and why, None where there is none."""
    curves = curve_by_problem(rows)
    lines = [
        (
            row.kernel,
            f"{curves[row.problem].label}, N = {seqlen_text(row.seqlen)}",
            STATUS_MARKS[row.status].word,
            row.reason,
        )
        for row in rows
        if not row.done and row.status not in UNFINISHED
    ]
    return (
        tag("div", table_element(("kernel", "problem", "status", "reason"), lines), class_="wide")
        if lines
        else None
    )


def trust(rows: Sequence[PointRow]) -> Element | None:
    """How many points are solid, and of each other why not; None where nothing was measured."""
    curves = curve_by_problem(rows)
    known = [(row, row.trust) for row in rows if row.trust is not None]
    lines = [
        (
            row.kernel,
            f"{curves[row.problem].label}, N = {seqlen_text(row.seqlen)}",
            why.word,
            "; ".join(why.reasons),
        )
        for row, why in known
        if why.reasons
    ]
    counts = Counter(why.word for _, why in known)
    told = tag("p", ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word]) + ".")
    if not lines:
        return told if known else None
    return tag("div", told, table_element(("kernel", "problem", "trust", "reasons"), lines), class_="wide")


def remarks(rows: Sequence[PointRow]) -> Element | None:
    """What kernels and engine have to say of points, the same said once."""
    said: dict[tuple[str, str], list[PointRow]] = {}
    for row in rows:
        if row.note:
            said.setdefault((row.kernel, row.note), []).append(row)
    lines = [(kernel, str(len(points)), note) for (kernel, note), points in said.items()]
    return tag("div", table_element(("kernel", "points", "note"), lines), class_="wide") if lines else None
