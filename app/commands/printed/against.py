"""Kernels side by side for a terminal: throughput of each problem, and its ratio to the fastest peer."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import BEST, Styled, TableCell, print_table, status_cell
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.units import digits, ratio_text, seqlen_text
from flashscope.profiles.results.compare.noise import Wander, wanders
from flashscope.profiles.results.findings.fastest import fastest_of
from flashscope.profiles.results.findings.ratios import Contest, Standings, standings_of
from flashscope.profiles.results.findings.rounds import speedup_interval
from flashscope.profiles.results.model.drift import drift_text
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import THROUGHPUT

PROBLEM = ("d", "heads", "mask", "batch", "N")
REMARKS = 3  # of one kernel that are printed; those of an 8-bit kernel differ from line to line


def print_against(session: Session, peers: Sequence[str]) -> None:
    """Print a line for each problem and a column for each kernel, then mean and worst ratio of each.

    Ratios are to the fastest of the peers, problem by problem. The worst has its interval where the two took
    turns.
    """
    measured = rows(session)
    standings = standings_of(measured, peers)
    kernels = list(dict.fromkeys(row.kernel for row in measured))
    say(_heading(peers, kernels))
    wandered = wanders(session)
    lines = [_cells(contest, kernels, wandered) for contest in standings.contests]
    ends = _summary(standings, kernels) if standings.means else []
    print_table((*PROBLEM, *kernels), [*lines, *ends], keys=len(PROBLEM))
    for kernel, worst in standings.worst.items():
        if kernel not in peers:
            entered = worst.contest.rows
            interval = _interval(entered[kernel], entered[worst.contest.peer])
            say(_worst_text(standings, kernel) + interval)
    if drift := drift_text(session):
        say(f"Drift check: {drift}")
    for text in _remarks(measured):
        say(text)


def _heading(peers: Sequence[str], kernels: Sequence[str]) -> str:
    """What the cells hold: ratios only where there is something to compare with."""
    if not set(peers) & set(kernels):
        return f"TFLOP/s, without ratios: {' and '.join(peers)} was not measured"
    fastest = f"the fastest of {', '.join(peers)}" if len(peers) > 1 else peers[0]
    return f"TFLOP/s, and in brackets the ratio to {fastest}"


def _worst_text(standings: Standings, kernel: str) -> str:
    """Where a kernel does worst, and beside which peer if there are several."""
    ratio, contest = standings.worst[kernel]
    cells = sum(kernel in one.ratios for one in standings.contests)
    beside = f" beside {contest.peer}" if len(standings.peers) > 1 else ""
    return (
        f"{kernel}: {cells} of {len(standings.contests)} problems compared, "
        f"worst {ratio_text(ratio)}{beside} at {contest.curve.label}, N = {contest.seqlen}"
    )


def _cells(contest: Contest, kernels: list[str], wandered: Mapping[str, Wander]) -> tuple[TableCell, ...]:
    curve, fastest = contest.curve, fastest_of(contest.rows.values(), wandered)
    problem = (
        str(curve.head_dim),
        str(curve.heads) if curve.kv_heads == curve.heads else f"{curve.heads}/{curve.kv_heads}",
        ", ".join(filter(None, (curve.mask.replace("no mask", "none"), curve.unusual))),
        str(contest.batch),
        seqlen_text(contest.seqlen),
    )
    return (*problem, *(_cell(contest, kernel, fastest) for kernel in kernels))


def _cell(contest: Contest, kernel: str, fastest: Sequence[PointRow]) -> TableCell:
    """Its throughput and ratio; the fastest stands out, with all that are as fast within the noise."""
    row = contest.rows.get(kernel)
    if row is None:
        return NOTHING
    tflops = value_of(THROUGHPUT, row)
    if not row.done or tflops is None:
        return status_cell(row.status)
    ratio = contest.ratios.get(kernel)
    if ratio is None:
        return digits(tflops)
    text = f"{digits(tflops)} ({ratio_text(ratio)})"
    return Styled(text, BEST) if any(row is one for one in fastest) else text


def _interval(kernel: PointRow, peer: PointRow) -> str:
    interval = speedup_interval(kernel, peer)
    if interval is None:
        return ""
    return f" (95% of its rounds' resamples: {interval.low:.3f} to {interval.high:.3f})"


def _summary(standings: Standings, kernels: list[str]) -> list[tuple[str, ...]]:
    """Geometric mean and worst of each kernel's ratios."""
    means = (standings.means.get(kernel) for kernel in kernels)
    worst = (standings.worst.get(kernel) for kernel in kernels)
    blank = [""] * (len(PROBLEM) - 1)
    return [
        ("geometric mean", *blank, *(NOTHING if mean is None else ratio_text(mean) for mean in means)),
        ("worst", *blank, *(NOTHING if cell is None else ratio_text(cell.ratio) for cell in worst)),
    ]


def _remarks(measured: list[PointRow]) -> Iterator[str]:
    """Why rows are not done and what kernels have to say, without the problem: most recur on every line."""
    of_kernel: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for row in measured:
        of_kernel[row.kernel].update((text, None) for text in (row.reason, row.note) if text)
    for kernel, texts in of_kernel.items():
        yield from (f"{kernel}: {text}" for text in list(texts)[:REMARKS])
        if len(texts) > REMARKS:
            yield f"{kernel}: {len(texts) - REMARKS} more remarks; `show FILE` prints all."
