"""Kernels side by side in one run: throughput of every cell, ratios to the fastest peer, geometric means.

A cell is one problem. Ratios of kernels of the same run share its clocks, its inputs and its protocol; ratios
to published figures do not, so there are none here.
"""

from collections.abc import Sequence
from statistics import geometric_mean
from typing import NamedTuple

from profiles.groups import Group, group_of
from profiles.summary import PointRow


class Line(NamedTuple):
    """One problem, all kernels.

    Attributes:
        group: What it shares with the other sequence lengths of its curve.
        seqlen: N.
        batch: Sequences.
        rows: The row of each kernel, by name.
        peer: The fastest of the peers here; empty when none of them is done.
        ratios: Throughput over that peer's, by kernel; a kernel that is not done has none.
    """

    group: Group
    seqlen: int
    batch: int
    rows: dict[str, PointRow]
    peer: str
    ratios: dict[str, float]


class Worst(NamedTuple):
    """The cell where a kernel does worst against the fastest peer."""

    ratio: float
    line: Line


class Comparison(NamedTuple):
    """Every cell, and how each kernel does over those it shares with a peer.

    Attributes:
        peers: The kernels of which ratios are to the fastest, cell by cell.
        lines: One a problem, in running order.
        means: Geometric mean of a kernel's ratios; kernels without any are missing.
        worst: A kernel's worst cell; missing as above.
    """

    peers: tuple[str, ...]
    lines: tuple[Line, ...]
    means: dict[str, float]
    worst: dict[str, Worst]


def compare(rows: Sequence[PointRow], peers: Sequence[str]) -> Comparison:
    """Compare all kernels with the fastest of some; a problem measured twice shows its last rows."""
    cells: dict[tuple[Group, int, int], dict[str, PointRow]] = {}
    for row in rows:
        cells.setdefault((group_of(row), row.seqlen, row.batch), {})[row.kernel] = row
    lines = tuple(Line(*key, found, *_ratios(found, peers)) for key, found in cells.items())
    kernels = dict.fromkeys(row.kernel for row in rows)
    by_kernel = {k: [Worst(line.ratios[k], line) for line in lines if k in line.ratios] for k in kernels}
    return Comparison(
        peers=tuple(peers),
        lines=lines,
        means={k: geometric_mean(cell.ratio for cell in found) for k, found in by_kernel.items() if found},
        worst={k: min(found, key=lambda cell: cell.ratio) for k, found in by_kernel.items() if found},
    )


def _ratios(rows: dict[str, PointRow], peers: Sequence[str]) -> tuple[str, dict[str, float]]:
    """The fastest of the peers, and every kernel's throughput over its."""
    found = {kernel: tflops for kernel, row in rows.items() if (tflops := _tflops(row)) is not None}
    fastest = max((peer for peer in peers if peer in found), key=found.__getitem__, default="")
    if not fastest:
        return fastest, {}
    return fastest, {kernel: tflops / found[fastest] for kernel, tflops in found.items()}


def _tflops(row: PointRow) -> float | None:
    """A row's throughput if it counts: a point that is wrong or failed is never compared."""
    return row.tflops if row.status == "done" and row.tflops else None
