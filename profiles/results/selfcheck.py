"""Whether this machine's figures agree with those of other instruments: each check with both, and a verdict.

Tolerances: counters within 2% of Nsight Compute in DRAM bytes, both with what L2 still held changed when a
run ended; in L2 bytes 10%, because how often multiprocessors find each other's lines there differs from run
to run; medians within 5% of the kernels' durations by CUPTI, which leave out what events add and the gaps
between launches; the ledger to the rounding of the allocator.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Literal

import msgspec

from profiles.results.quantities import QUANTITIES
from profiles.results.quantity import Quantity
from profiles.results.rows import PointRow
from profiles.results.traffic import ARBITER
from profiles.wire.measurement import Figure
from profiles.wire.traffic import BY_NCU, WRITTEN_BACK

Verdict = Literal["agrees", "differs", "not tested"]
DRAM, L2, TIMES = 0.02, 0.10, 0.05  # shares by which two figures may differ
DRAM_PARTS = ("dram_read_bytes", "dram_write_bytes", WRITTEN_BACK)
ROUNDING = {"cuda": 16 * 512, "cpu": 64 << 10}  # bytes: CuPy's of each array; Python's own objects
Answer = Mapping[str, float] | str
"""Another instrument's figures by the keys of their quantities, or why there are none, as a clause."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One figure beside that of another instrument.

    Attributes:
        what: The quantity's key.
        kernel: Of which kernel.
        seqlen: At which N.
        ours: Our figure, None where there is none.
        low: Lower end of its spread over runs that were counted, None where there is none.
        high: Upper end of the same.
        source: Where it comes from.
        theirs: The other figure, None where there is none.
        arbiter: Where that comes from.
        share: By how much the two may differ, as a share of the other.
        slack: By how much they may differ in any case, in the quantity's unit.
        missing: Why there is nothing to compare; empty when there is.
    """

    what: str
    kernel: str
    seqlen: int
    ours: float | None
    low: float | None = None
    high: float | None = None
    source: str
    theirs: float | None
    arbiter: str
    share: float = 0.0
    slack: float = 0.0
    missing: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over theirs."""
        return self.ours / self.theirs if self.ours is not None and self.theirs else None

    @property
    def verdict(self) -> Verdict:
        """Whether they agree: what of our spread is nearest to theirs counts, of counted runs alone."""
        if self.ours is None or self.theirs is None:
            return "not tested"
        low, high = (self.ours if end is None else end for end in (self.low, self.high))
        nearest = min(max(self.theirs, low), high)
        return (
            "agrees"
            if abs(nearest - self.theirs) <= self.share * abs(self.theirs) + self.slack
            else "differs"
        )

    @property
    def quantity(self) -> Quantity:
        """What is compared."""
        return QUANTITIES[self.what]


def checks(
    points: Sequence[PointRow],
    counted: Callable[[PointRow], Answer],
    timed: Callable[[PointRow], Sequence[float] | str],
) -> "list[Check]":
    """Every check of every point that is done.

    Args:
        points: What was measured here.
        counted: What Nsight Compute counts of a point.
        timed: What each of some runs takes by PyTorch's profiler, in ms, or why that is not known.
    """
    made: list[Check] = []
    for row in points:
        if row.done:
            made += [_ledger(row), *_traffic(row, counted(row)), _times(row, timed(row))]
    return made


def _ledger(row: PointRow) -> Check:
    peak = row.measured("peak_bytes")
    theirs = None if peak is None else peak.value
    slack = ROUNDING[row.backend]
    why = peak.missing if peak is not None else "no allocator was read"
    return _check(row, "footprint", theirs, peak.source if peak else "", slack=slack, missing=why)


def _traffic(row: PointRow, answer: Answer) -> list[Check]:
    missing = answer if isinstance(answer, str) else ""
    known = {} if isinstance(answer, str) else answer
    dram = in_all(known) if known else None
    by = ARBITER
    return [
        _check(row, "dram_bytes", dram, by, share=DRAM, missing=missing),
        _check(row, "l2_bytes", known.get("l2_bytes"), by, share=L2, missing=missing),
    ]


def in_all(counted: Mapping[str, float]) -> float:
    """The DRAM bytes of a run in all, of its parts by Nsight Compute."""
    return sum(counted[key] for key in DRAM_PARTS)


def ncu_figures(answer: Answer) -> dict[str, Figure]:
    """What Nsight Compute counted of a point, or why it did not, as a session keeps it."""
    if isinstance(answer, str):
        return dict.fromkeys(BY_NCU.values(), Figure(missing=answer))
    values = {"dram_bytes": in_all(answer), "l2_bytes": answer["l2_bytes"]}
    return {BY_NCU[key]: Figure(value=value, source=ARBITER) for key, value in values.items()}


def _times(row: PointRow, answer: Sequence[float] | str) -> Check:
    missing = answer if isinstance(answer, str) else ""
    theirs = None if isinstance(answer, str) else median(answer)
    return _check(row, "runtime", theirs, "PyTorch's profiler", share=TIMES, missing=missing)


def _check(
    row: PointRow,
    what: str,
    theirs: float | None,
    arbiter: str,
    *,
    share: float = 0.0,
    slack: float = 0.0,
    missing: str = "",
) -> Check:
    """Our figure of a point beside theirs; why ours is missing counts before why theirs is."""
    figure = QUANTITIES[what].figure(row)
    ours = None if figure is None else figure.value
    return Check(
        what=what,
        kernel=row.kernel,
        seqlen=row.seqlen,
        ours=ours,
        low=figure.low if figure and what != "runtime" else None,
        high=figure.high if figure and what != "runtime" else None,
        source=figure.source if figure else "",
        theirs=theirs,
        arbiter=arbiter,
        share=share,
        slack=slack,
        missing=(figure.missing if figure and ours is None else "") or missing,
    )
