"""Kernels side by side in one run: throughput of every cell, ratios to the fastest peer, geometric means.

A cell is one problem. Ratios of kernels of the same run share its clocks, its inputs and its protocol; ratios
to published figures do not, so there are none here.
"""

from collections.abc import Sequence
from statistics import geometric_mean
from typing import NamedTuple

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.curves import Curve, curve_by_problem
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import THROUGHPUT


class Contest(NamedTuple):
    """One problem, all kernels.

    Attributes:
        curve: What it shares with the other sequence lengths.
        seqlen: N.
        batch: Sequences.
        rows: The row of each kernel, by name.
        peer: The fastest of the peers here; empty when none of them is done.
        ratios: Throughput over that peer's, by kernel; a kernel that is not done has none.
    """

    curve: Curve
    seqlen: int
    batch: int
    rows: dict[str, PointRow]
    peer: str
    ratios: dict[str, float]


class WorstRatio(NamedTuple):
    """The cell where a kernel does worst against the fastest peer."""

    ratio: float
    contest: Contest


class Standings(NamedTuple):
    """Every cell, and how each kernel does over those it shares with a peer.

    Attributes:
        peers: The kernels of which ratios are to the fastest, cell by cell.
        contests: One a problem, in running order.
        means: Geometric mean of a kernel's ratios; kernels without any are missing.
        worst: A kernel's worst cell; kernels without any ratio are missing.
    """

    peers: tuple[str, ...]
    contests: tuple[Contest, ...]
    means: dict[str, float]
    worst: dict[str, WorstRatio]


def standings_of(rows: Sequence[PointRow], peers: Sequence[str]) -> Standings:
    """Compare all kernels with the fastest of some; a problem measured twice shows its last rows."""
    cells: dict[Problem, dict[str, PointRow]] = {}
    for row in rows:
        cells.setdefault(row.problem, {})[row.kernel] = row
    curves = curve_by_problem(rows)
    contests = tuple(_contest(problem, curves[problem], entered, peers) for problem, entered in cells.items())
    kernels = dict.fromkeys(row.kernel for row in rows)
    by_kernel = {k: [WorstRatio(one.ratios[k], one) for one in contests if k in one.ratios] for k in kernels}
    return Standings(
        peers=tuple(peers),
        contests=contests,
        means={k: geometric_mean(cell.ratio for cell in cells) for k, cells in by_kernel.items() if cells},
        worst={k: min(cells, key=lambda cell: cell.ratio) for k, cells in by_kernel.items() if cells},
    )


def _contest(problem: Problem, curve: Curve, entered: dict[str, PointRow], peers: Sequence[str]) -> Contest:
    """The fastest of the peers, and every kernel's throughput over its."""
    known = {kernel: value for kernel, row in entered.items() if (value := _throughput(row)) is not None}
    fastest = max((peer for peer in peers if peer in known), key=known.__getitem__, default="")
    ratios = {kernel: value / known[fastest] for kernel, value in known.items()} if fastest else {}
    return Contest(curve, problem.seqlen, problem.batch, entered, fastest, ratios)


def _throughput(row: PointRow) -> float | None:
    """A row's throughput if it counts: nothing that is wrong, failed or took for ever is ever compared."""
    return (value_of(THROUGHPUT, row) or None) if row.done else None
