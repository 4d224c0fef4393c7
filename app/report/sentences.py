"""What a report says first: how much was measured, who is fastest, how near to wrong the worst was."""

from collections import Counter
from collections.abc import Sequence

from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.words.units import error_text, ratio_text, seqlen_text, share_text
from flashscope.profiles.results.findings.fastest import exact
from flashscope.profiles.results.findings.ratios import Standings
from flashscope.profiles.results.model.curves import curve_by_problem
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.measurement import OutputError


def tally(rows: Sequence[PointRow], standings: Standings) -> str:
    """How many points there are, what became of them, and the exact kernel that is fastest over all."""
    counts = Counter(STATUS_MARKS[row.status].word for row in rows)
    told = ", ".join(f"{count} {word}" for word, count in counts.items())
    kernels = len({row.kernel for row in rows})
    measured = f"{len(rows)} points of {kernels} kernel{'s' if kernels > 1 else ''}: {told}."
    return f"{measured} {_fastest(standings)}".strip()


def _fastest(standings: Standings) -> str:
    """The largest geometric mean; empty where there is nothing to compare with."""
    means = standings.means.items()
    others = {kernel: mean for kernel, mean in means if kernel not in standings.peers and exact(kernel)}
    if not others:
        return ""
    best = max(others, key=others.__getitem__)
    least = ratio_text(standings.worst[best].ratio)
    compared = sum(best in contest.ratios for contest in standings.contests)
    return (
        f"{best} is {ratio_text(others[best])} as fast as {standings.peers[0]} "
        f"(geometric mean over {compared} problem{'s' if compared > 1 else ''}, {least} at least)."
    )


def worst_check(rows: Sequence[PointRow]) -> str:
    """How many outputs were compared with float64, and which came nearest to its bound."""
    checked = [(one, row) for row in rows for one in _errors(row)]
    points = sum(bool(_errors(row)) for row in rows)
    if not checked:
        return "No output was compared with float64 attention."
    worst, row = max(checked, key=lambda one: _share(one[0]))
    failed = sum(any(not one.passed for one in _errors(row)) for row in rows)
    verdict = f"{failed} failed" if failed else "all passed"
    place = f"{row.kernel}, {curve_by_problem(rows)[row.problem].label}, N = {seqlen_text(row.seqlen)}"
    return (
        f"{points} of {len(rows)} points were compared with float64 attention, {verdict}. The largest share "
        f"of a bound is {_unbroken(share_text(_share(worst)))}: {worst.output} of {place} "
        f"(error {error_text(worst.error)}, bound {error_text(worst.bound)})."
    )


def _unbroken(text: str) -> str:
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _errors(row: PointRow) -> tuple[OutputError, ...]:
    checked = row.measurement.correctness if row.measurement else None
    return checked.outputs if checked else ()


def _share(one: OutputError) -> float:
    """Error over bound; endless where there is no such number."""
    if one.bound > 0 and one.error >= 0:
        return one.error / one.bound
    return 0.0 if one.passed else float("inf")
