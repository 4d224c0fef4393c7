"""Whether this machine's figures agree with those of other instruments: each check with both, and a verdict.

Tolerances: counters within 2% of Nsight Compute in DRAM bytes, both with what L2 still held changed when a
run ended; in L2 bytes 10%, because how often multiprocessors find each other's lines there differs from run
to run; medians within 5% of the kernels' durations by CUPTI, which leave out what events add and the gaps
between launches; energy by the counter within 5% of the mean of the power's readings times the time; the
ledger to the rounding of a GPU's allocator, on a CPU to what Python's own objects take.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Literal

import msgspec

from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.results.quantities.traffic import ARBITER
from flashscope.profiles.wire.measurement import BY_POWER, Figure
from flashscope.profiles.wire.traffic import BY_NCU

CheckVerdict = Literal["agrees", "differs", "not tested"]
DRAM, L2, TIMES, ENERGY = 0.02, 0.10, 0.05, 0.05  # shares by which two figures may differ
ROUNDING = {"cuda": 16 * 512, "cpu": 64 << 10}  # bytes: CuPy's of each array; Python's own objects
InstrumentFigures = Mapping[str, Figure] | str
"""Another instrument's figures by the keys of their quantities, or why there are none, as a clause."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One figure beside that of another instrument.

    Attributes:
        what: The quantity's key.
        kernel: Of which kernel.
        seqlen: At which N.
        ours: Our figure, None where there is none.
        low: Lower end of its spread or uncertainty, None where there is none.
        high: Upper end of the same.
        source: Where it comes from.
        theirs: The other figure, None where there is none.
        their_low: Lower end of its spread over runs, None where there is none.
        their_high: Upper end of the same.
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
    their_low: float | None = None
    their_high: float | None = None
    arbiter: str
    share: float = 0.0
    slack: float = 0.0
    missing: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over theirs."""
        return self.ours / self.theirs if self.ours is not None and self.theirs else None

    @property
    def verdict(self) -> CheckVerdict:
        """Whether they agree: what of each spread is nearest to the other counts."""
        if self.ours is None or self.theirs is None:
            return "not tested"
        low, high = (self.ours if end is None else end for end in (self.low, self.high))
        their_low, their_high = (
            self.theirs if end is None else end for end in (self.their_low, self.their_high)
        )
        apart = max(0.0, low - their_high, their_low - high)
        return "agrees" if apart <= self.share * abs(self.theirs) + self.slack else "differs"

    @property
    def quantity(self) -> Quantity:
        """What is compared."""
        return QUANTITIES[self.what]


def checks(
    points: Sequence[PointRow],
    counted: Callable[[PointRow], InstrumentFigures],
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
            made += [_ledger(row), *_traffic(row, counted(row)), _times(row, timed(row)), *_energy(row)]
    return made


def _ledger(row: PointRow) -> Check:
    peak = row.measured("peak_bytes") or Figure(missing="no allocator was read")
    return _check(row, "footprint", peak, slack=ROUNDING[row.backend])


def _traffic(row: PointRow, answer: InstrumentFigures) -> list[Check]:
    known = dict.fromkeys(BY_NCU, _not_told(answer)) if isinstance(answer, str) else answer
    shares = {"dram_bytes": DRAM, "l2_bytes": L2}
    return [_check(row, key, known[key], share=share) for key, share in shares.items()]


def _not_told(why: str) -> Figure:
    return Figure(missing=why, source=ARBITER)


def ncu_figures(answer: InstrumentFigures) -> dict[str, Figure]:
    """What Nsight Compute counted of a point, or why it did not, as a session keeps it."""
    if isinstance(answer, str):
        return dict.fromkeys(BY_NCU.values(), Figure(missing=answer))
    return {BY_NCU[key]: figure for key, figure in answer.items()}


def _times(row: PointRow, answer: Sequence[float] | str) -> Check:
    known = {"missing": answer} if isinstance(answer, str) else {"value": median(answer)}
    return _check(row, "runtime", Figure(source="PyTorch's profiler", **known), share=TIMES)


def _energy(row: PointRow) -> list[Check]:
    """Nothing where no runs were made back to back, or nothing but the counter tells the power."""
    theirs = row.measured(BY_POWER)
    return [] if theirs is None else [_check(row, "energy_mj", theirs, share=ENERGY)]


def _check(row: PointRow, what: str, theirs: Figure, *, share: float = 0.0, slack: float = 0.0) -> Check:
    """Our figure of a point beside theirs; why ours is missing counts before why theirs is."""
    ours = QUANTITIES[what].figure(row) or Figure()
    spread = what != "runtime"  # samples scatter, and the medians are compared
    return Check(
        what=what,
        kernel=row.kernel,
        seqlen=row.seqlen,
        ours=ours.value,
        low=ours.low if spread else None,
        high=ours.high if spread else None,
        source=ours.source,
        theirs=theirs.value,
        their_low=theirs.low,
        their_high=theirs.high,
        arbiter=theirs.source,
        share=share,
        slack=slack,
        missing=(ours.missing if ours.value is None else "") or theirs.missing,
    )
