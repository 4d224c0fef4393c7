"""Kernels side by side for a terminal: throughput of each problem, and its ratio to the fastest peer."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from shutil import get_terminal_size

from app.commands.table import NOTHING, print_table, table_width
from app.plots.units import digits, ratio_text, seqlen_text
from profiles.drift import drift_text
from profiles.ratios import Comparison, Line, compare
from profiles.rounds import speedup_interval
from profiles.session import PointState, Session
from profiles.summary import PointRow, rows

REMARKS = 3  # of one kernel that are printed; those of an 8-bit kernel differ from line to line


def print_comparison(session: Session, peers: Sequence[str]) -> None:
    """Print a line for each problem and a column for each kernel, then mean and worst ratio of each.

    Ratios are to the fastest of the peers, problem by problem. The worst has its interval where the two took
    turns.
    """
    found = rows(session)
    states = dict(zip(found, session.cells, strict=True))
    comparison = compare(found, peers)
    kernels = list(dict.fromkeys(row.kernel for row in found))
    fastest = f"the fastest of {', '.join(peers)}" if len(peers) > 1 else peers[0]
    print(f"TFLOP/s, and in brackets the ratio to {fastest}")
    for place, some in enumerate(_side_by_side(comparison, kernels)):
        if place:
            print()
        print_table(_lines(comparison, some))
    for kernel, worst in comparison.worst.items():
        if kernel not in peers:
            rows_there = worst.line.rows
            interval = _interval(states[rows_there[kernel]], states[rows_there[worst.line.peer]])
            print(_worst_text(comparison, kernel) + interval)
    if drift := drift_text(session):
        print(f"Drift check: {drift}")
    for text in _remarks(found):
        print(text)


def _worst_text(comparison: Comparison, kernel: str) -> str:
    """Where a kernel does worst, and beside which peer if there are several."""
    ratio, line = comparison.worst[kernel]
    cells = sum(kernel in line.ratios for line in comparison.lines)
    beside = f" beside {line.peer}" if len(comparison.peers) > 1 else ""
    return (
        f"{kernel}: {cells} of {len(comparison.lines)} problems compared, worst {ratio_text(ratio)}{beside} "
        f"at {line.group.label}, N = {line.seqlen}"
    )


def _side_by_side(comparison: Comparison, kernels: list[str]) -> list[list[str]]:
    """The kernels in as many tables as a terminal's width makes of them; a file or a pipe gets one."""
    if not sys.stdout.isatty():
        return [kernels]
    room, tables = get_terminal_size().columns, [kernels[:1]]
    for kernel in kernels[1:]:
        wider = [*tables[-1], kernel]
        if table_width(_lines(comparison, wider)) <= room:
            tables[-1] = wider
        else:
            tables.append([kernel])
    return tables


def _lines(comparison: Comparison, kernels: list[str]) -> list[tuple[str, ...]]:
    """The table of these kernels: a line for each problem, then the geometric mean and the worst."""
    lines = [("d", "mask", "batch", "N", *kernels)]
    lines += [_cells(line, kernels) for line in comparison.lines]
    return lines + _summary(comparison, kernels)


def _cells(line: Line, kernels: list[str]) -> tuple[str, ...]:
    group = line.group
    problem = (
        str(group.head_dim),
        group.mask.replace("no mask", "none"),
        str(line.batch),
        seqlen_text(line.seqlen),
    )
    return (*problem, *(_cell(line, kernel) for kernel in kernels))


def _cell(line: Line, kernel: str) -> str:
    row = line.rows.get(kernel)
    if row is None:
        return NOTHING
    if row.status != "done" or row.tflops is None:
        return row.status
    ratio = line.ratios.get(kernel)
    return digits(row.tflops) + ("" if ratio is None else f" ({ratio_text(ratio)})")


def _interval(kernel: PointState, peer: PointState) -> str:
    found = speedup_interval(kernel, peer)
    return "" if found is None else f" (95% of its rounds' resamples: {found.low:.3f} to {found.high:.3f})"


def _summary(comparison: Comparison, kernels: list[str]) -> list[tuple[str, ...]]:
    """Geometric mean and worst of each kernel's ratios."""
    means = (comparison.means.get(kernel) for kernel in kernels)
    worst = (comparison.worst.get(kernel) for kernel in kernels)
    return [
        ("geometric mean", "", "", "", *(NOTHING if mean is None else ratio_text(mean) for mean in means)),
        ("worst", "", "", "", *(NOTHING if cell is None else ratio_text(cell.ratio) for cell in worst)),
    ]


def _remarks(found: list[PointRow]) -> Iterator[str]:
    """Why rows are not done and what kernels have to say, without the problem: most recur on every line."""
    of_kernel: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for row in found:
        of_kernel[row.kernel].update((text, None) for text in (row.reason, row.note) if text)
    for kernel, texts in of_kernel.items():
        yield from (f"{kernel}: {text}" for text in list(texts)[:REMARKS])
        if len(texts) > REMARKS:
            yield f"{kernel}: {len(texts) - REMARKS} more remarks; `show FILE` prints all."
