"""What a sweep says in one sentence: which kernel to name at one N, beside which, and by how much.

Nothing is named that was not measured. A point that is not done, that is doubtful (profiles.results.trust) or
altered, or whose kernel rounds its inputs, is never the one of the sentence, and nothing is over a baseline
that is not done or doubtful. Of kernels whose runtimes cannot be told apart (profiles.results.compare.apart)
the first of our own is named.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kernels.ladder import LADDER
from kernels.problem import Backend
from kernels.registry import KERNELS, base_of
from profiles.results.compare.apart import apart, timed
from profiles.results.compare.noise import Wander, wanders
from profiles.results.curves import by_curve, telling_seqlen
from profiles.results.quantities import FOOTPRINT, RUNTIME, SPEEDUP, THROUGHPUT, favoured_baseline
from profiles.results.quantity import Quantity
from profiles.results.rows import PointRow, rows
from profiles.results.session import UNFINISHED, Session
from profiles.wire.events import PointStatus
from profiles.wire.measurement import Figure

Verdict = Literal["better", "worse", "same"]
Loss = PointStatus | Literal["doubtful"]
MOST_CLAUSES = 2
OF_TIME = frozenset(
    {RUNTIME.key, SPEEDUP.key, THROUGHPUT.key, "dense-throughput"}
)  # all say the same of two kernels
FORMULAS = frozenset({"tile_io_bytes", "compulsory_dram_bytes"})
REFUSED: frozenset[PointStatus] = frozenset({"will-not-fit", "oom"})
ROUNDING = frozenset(spec.name for spec in KERNELS if spec.rounding is not None)
SHOWN = (RUNTIME, FOOTPRINT)


@dataclass(frozen=True)
class Clause:
    """One quantity of the kernel that is named.

    Attributes:
        quantity: Which.
        value: Its value.
        base: The baseline's; None: it has none here.
        verdict: How the value is beside the baseline's; None: nothing tells, or there is none.
    """

    quantity: Quantity
    value: float
    base: float | None = None
    verdict: Verdict | None = None

    @property
    def factor(self) -> float:
        """The larger of the two values over the smaller one, at least 1; 1 without a baseline."""
        return 1.0 if self.base is None else max(self.value / self.base, self.base / self.value)


@dataclass(frozen=True)
class Lost:
    """Where the baseline has no figure that counts, and why."""

    seqlen: int
    why: Loss


@dataclass(frozen=True)
class Headline:
    """What is to be said.

    Attributes:
        kernel: The kernel that is named; empty: none has a figure that counts here.
        baseline: What it is compared with; empty: nothing.
        seqlen: N.
        backend: Where they ran.
        clauses: What is said of it, the most important first; at most two.
        lost: Where the baseline was lost: here, or at a longer N where it was refused; None: nowhere.
        checked: Whether the output of the kernel was compared with float64.
        unusual: What they ran, in words, where it does not go without saying.
        label: Their problem, in words, where its session has others; else empty.
    """

    kernel: str
    baseline: str
    seqlen: int
    backend: Backend
    clauses: tuple[Clause, ...] = ()
    lost: Lost | None = None
    checked: bool = True
    unusual: str = ""
    label: str = ""


def exact(kernel: str) -> bool:
    """Whether a kernel computes attention on the inputs as they are, not on ones rounded to 8 bits."""
    return kernel not in ROUNDING


def headline(
    rows: Sequence[PointRow],
    seqlen: int | None,
    baseline: str | None,
    quantities: Sequence[Quantity] = SHOWN,
    *,
    hidden: Collection[str] = (),
    wandered: Mapping[str, Wander] | None = None,
    label: str = "",
) -> Headline | None:
    """What is to be said of one curve at one N; None while nothing has ended there.

    Args:
        rows: Of one curve; a point measured twice counts as its last row does.
        seqlen: N.
        baseline: What others are compared with.
        quantities: What is on show, the most important first; runtimes come before all else. Where nothing of
            it was measured and is better one way, runtime and footprint are said.
        hidden: Kernels that are not to be named.
        wandered: See `profiles.results.compare.noise.wanders`.
        label: The curve's where its session has others.
    """
    here = {row.kernel: row for row in rows if row.seqlen == seqlen}
    if seqlen is None or not any(row.status not in UNFINISHED for row in here.values()):
        return None
    base = here.get(baseline or "")
    named = _named([row for row in here.values() if _candidate(row, baseline, hidden)], wandered or {})
    if named is None and base is not None and _counts(base):
        named = base
    one = next(iter(here.values()))
    backend, unusual = one.backend, one.problem.unusual
    if named is None:
        lost = _lost_here(base)
        return Headline("", baseline or "", seqlen, backend, lost=lost, unusual=unusual, label=label)
    beside = base if base is not None and base is not named else None
    counted = beside if beside is not None and _counts(beside) else None
    return Headline(
        kernel=named.kernel,
        baseline=beside.kernel if beside is not None else "",
        seqlen=seqlen,
        backend=backend,
        clauses=_clauses(named, counted, quantities, wandered or {}),
        lost=_lost(rows, beside, seqlen),
        checked=named.measurement is not None and named.measurement.correctness is not None,
        unusual=unusual,
        label=label,
    )


def of_curve(session: Session, members: Sequence[PointRow], label: str = "") -> Headline | None:
    """What is to be said of one curve of a session where it says most; `label`: see `headline`."""
    kernels = tuple(dict.fromkeys(row.kernel for row in members))
    baseline = favoured_baseline(kernels)
    return headline(members, telling_seqlen(members), baseline, wandered=wanders(session), label=label)


def of_curves(session: Session) -> Iterator[tuple[list[PointRow], Headline | None]]:
    """The points of each curve of a session, and what is to be said of it; by its label among several."""
    curves = by_curve(rows(session))
    for curve, members in curves.items():
        yield members, of_curve(session, members, curve.label if len(curves) > 1 else "")


def _candidate(row: PointRow, baseline: str | None, hidden: Collection[str]) -> bool:
    return row.kernel != baseline and row.kernel not in hidden and exact(row.kernel) and _counts(row)


def _counts(row: PointRow) -> bool:
    """Whether a point's figures are worth a sentence."""
    solid = row.trust is not None and row.trust.word != "doubtful"
    return row.done and not row.altered and solid and timed(row)


def _named(candidates: Sequence[PointRow], wandered: Mapping[str, Wander]) -> PointRow | None:
    """The fastest, or the first in the order of preference that is as fast."""
    if not candidates:
        return None
    fastest = min(candidates, key=_median)
    others = [row for row in candidates if row is not fastest]
    differ = apart(fastest, others, wandered)
    as_fast = [row for row, other in zip(others, differ, strict=True) if not other]
    return min([fastest, *as_fast], key=_preference)


def _preference(row: PointRow) -> tuple[bool, bool, float]:
    """Our own kernels first, what is a step to one or a variant of it later, then by time."""
    own = any(spec.name == row.kernel for spec in LADDER)
    return not own, base_of(row.kernel) is not None, _median(row)


def _median(row: PointRow) -> float:
    return row.times.median if row.times else math.inf


def _clauses(
    row: PointRow, base: PointRow | None, quantities: Sequence[Quantity], wandered: Mapping[str, Wander]
) -> tuple[Clause, ...]:
    better = [one for one in quantities if one.better and one.key not in FORMULAS]
    said = dict.fromkeys(RUNTIME if one.key in OF_TIME else one for one in better or SHOWN)
    ordered = sorted(said, key=lambda one: one is not RUNTIME)
    found = [_clause(one, row, base, wandered) for one in ordered]
    return tuple(clause for clause in found if clause is not None)[:MOST_CLAUSES]


def _clause(
    quantity: Quantity, row: PointRow, base: PointRow | None, wandered: Mapping[str, Wander]
) -> Clause | None:
    figure, other = quantity.figure(row), quantity.figure(base) if base is not None else None
    value, beside = _positive(figure), _positive(other)
    if figure is None or value is None:
        return None
    if base is None or other is None or beside is None:
        return Clause(quantity, value)
    if quantity is RUNTIME:
        differ: bool | None = apart(base, [row], wandered)[0]
    else:
        differ = value != beside if quantity.exact else _disjoint(figure, other)
    return Clause(quantity, value, beside, _verdict(quantity, value, beside, differ=differ))


def _verdict(quantity: Quantity, value: float, base: float, *, differ: bool | None) -> Verdict | None:
    if differ is None:
        return None
    if not differ or value == base:
        return "same"
    return "better" if (value > base) == (quantity.better == "higher") else "worse"


def _disjoint(one: Figure, other: Figure) -> bool | None:
    """Whether the spreads of two figures leave nothing in common; None where there is no spread."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    return one.high < other.low or other.high < one.low


def _positive(figure: Figure | None) -> float | None:
    """The value of a figure if ratios of it are numbers."""
    value = None if figure is None or figure.value is None else float(figure.value)
    return value if value is not None and math.isfinite(value) and value > 0 else None


def _lost(rows: Sequence[PointRow], base: PointRow | None, seqlen: int) -> Lost | None:
    """The baseline's loss here, else at the next N where it was refused."""
    if base is None:
        return None
    later = {row.seqlen: row for row in rows if row.kernel == base.kernel and row.seqlen > seqlen}
    refused = [n for n, row in later.items() if row.status in REFUSED]
    return _lost_here(base) or (Lost(min(refused), later[min(refused)].status) if refused else None)


def _lost_here(base: PointRow | None) -> Lost | None:
    if base is None or _counts(base):
        return None
    return Lost(base.seqlen, "doubtful" if base.done else base.status)
