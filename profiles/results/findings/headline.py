"""What a sweep says in one sentence: which kernel to name at one N, beside which, and by how much.

Nothing is named that was not measured. A point that is not done or altered, or whose kernel rounds its
inputs, is never the one of the sentence, and nothing is over a baseline that is not done. Of a point that is
doubtful (profiles.results.model.trust) only what is exact is said, such as its footprint; it is named where
no other has a runtime that counts. Of kernels whose runtimes cannot be told apart
(profiles.results.compare.significance) the first of our own is named. What is sure is said first; of a CPU,
whose runtimes show little of what tiling is for, that is what is exact.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.registry import base_of
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.problem_words import unusual_words
from flashscope.profiles.results.compare.noise import Wander, wanders
from flashscope.profiles.results.compare.significance import differ_significantly
from flashscope.profiles.results.findings.fastest import exact, fastest_of, stands, timed
from flashscope.profiles.results.findings.spared import Spared, spared
from flashscope.profiles.results.model.curves import by_curve, telling_seqlen
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import UNFINISHED, Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import (
    FOOTPRINT,
    RUNTIME,
    SPEEDUP,
    THROUGHPUT,
    favoured_baseline,
)
from flashscope.profiles.wire.ceilings import Ceilings
from flashscope.profiles.wire.events import PointStatus
from flashscope.profiles.wire.measurement import Figure

HeadlineVerdict = Literal["better", "worse", "same"]
Loss = PointStatus | Literal["doubtful"]
MOST_CLAUSES = 2
OF_TIME = frozenset(
    {RUNTIME.key, SPEEDUP.key, THROUGHPUT.key, "dense-throughput"}
)  # all say the same of two kernels
FORMULAS = frozenset({"tile_io_bytes", "compulsory_dram_bytes"})
REFUSED: frozenset[PointStatus] = frozenset({"will-not-fit", "oom"})
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
    verdict: HeadlineVerdict | None = None

    @property
    def factor(self) -> float:
        """The larger of the two values over the smaller one, at least 1; 1 without a baseline."""
        return 1.0 if self.base is None else max(self.value / self.base, self.base / self.value)


@dataclass(frozen=True)
class Lost:
    """Where the baseline has no figure that counts, and why."""

    seqlen: int
    why: Loss


class Doubted(NamedTuple):
    """A kernel whose runtime cannot be trusted, and the gravest reason, as a clause."""

    kernel: str
    reason: str


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
        timed: Whether the runtime of the kernel can be trusted; else only what is exact is said of it.
        doubts: Which of the two have a runtime that cannot be trusted, and why.
        checked: Whether the output of the kernel was compared with float64.
        unusual: What they ran, in words, where it does not go without saying.
        label: Their problem, in words, where its session has others; else empty.
        problem: The same as a whole; None: not told.
        spared: On a CPU, what the kernel spares beside the baseline; None where it spares no matrices.
    """

    kernel: str
    baseline: str
    seqlen: int
    backend: Backend
    clauses: tuple[Clause, ...] = ()
    lost: Lost | None = None
    timed: bool = True
    doubts: tuple[Doubted, ...] = ()
    checked: bool = True
    unusual: str = ""
    label: str = ""
    problem: Problem | None = None
    spared: Spared | None = None


def headline(
    rows: Sequence[PointRow],
    seqlen: int | None,
    baseline: str | None,
    quantities: Sequence[Quantity] = SHOWN,
    *,
    hidden: Collection[str] = (),
    wandered: Mapping[str, Wander] | None = None,
    label: str = "",
    ceilings: Mapping[int, Ceilings] | None = None,
) -> Headline | None:
    """What is to be said of one curve at one N; None while nothing has ended there.

    Args:
        rows: Of one curve; a point measured twice counts as its last row does.
        seqlen: N.
        baseline: What others are compared with.
        quantities: What is on show, the most important first; runtimes come before all else that is as sure.
            Where nothing of it was measured and is better one way, runtime and footprint are said.
        hidden: Kernels that are not to be named.
        wandered: See `profiles.results.compare.noise.wanders`.
        label: The curve's where its session has others.
        ceilings: What the device reached in each part of the session.
    """
    here = {row.kernel: row for row in rows if row.seqlen == seqlen}
    if seqlen is None or not any(row.status not in UNFINISHED for row in here.values()):
        return None
    base = here.get(baseline or "")
    named = _named([row for row in here.values() if _candidate(row, baseline, hidden)], wandered or {})
    if named is None and base is not None and _tells(base):
        named = base
    one = next(iter(here.values()))
    none = Headline("", baseline or "", seqlen, one.backend, label=label, problem=one.problem)
    none = replace(none, unusual=unusual_words(one.problem))
    if named is None:
        return replace(none, lost=_lost_here(base))
    beside = base if base is not None and base is not named else None
    return replace(
        none,
        kernel=named.kernel,
        baseline=beside.kernel if beside is not None else "",
        clauses=_clauses(named, beside, quantities, wandered or {}),
        lost=_lost(rows, beside, seqlen, beside=timed(named)),
        timed=timed(named),
        doubts=tuple(_doubts(named, *filter(None, [beside]))),
        checked=named.measurement is not None and named.measurement.correctness is not None,
        spared=_spared(named, beside, ceilings or {}),
    )


def _doubts(*told: PointRow) -> Iterator[Doubted]:
    for row in told:
        if row.trust is not None and row.trust.reasons and stands(row) and not timed(row):
            yield Doubted(row.kernel, row.trust.reasons[0])


def _spared(row: PointRow, beside: PointRow | None, ceilings: Mapping[int, Ceilings]) -> Spared | None:
    return spared(row, beside, ceilings.get(row.part or 1)) if row.backend == "cpu" else None


def of_curve(session: Session, members: Sequence[PointRow], label: str = "") -> Headline | None:
    """What is to be said of one curve of a session where it says most; `label`: see `headline`."""
    return headline(
        members,
        telling_seqlen(members),
        favoured_baseline(session.plan.kernels),
        wandered=wanders(session),
        label=label,
        ceilings=session.ceilings,
    )


def of_curves(session: Session) -> Iterator[tuple[list[PointRow], Headline | None]]:
    """The points of each curve of a session, and what is to be said of it; by its label among several."""
    curves = by_curve(rows(session))
    for curve, members in curves.items():
        yield members, of_curve(session, members, curve.label if len(curves) > 1 else "")


def _candidate(row: PointRow, baseline: str | None, hidden: Collection[str]) -> bool:
    return row.kernel != baseline and row.kernel not in hidden and exact(row.kernel) and _tells(row)


def _tells(row: PointRow) -> bool:
    """Whether a sentence can be made of it: of its runtime, or of its footprint."""
    return timed(row) or (stands(row) and _positive(FOOTPRINT.figure(row, None)) is not None)


def _named(candidates: Sequence[PointRow], wandered: Mapping[str, Wander]) -> PointRow | None:
    """The fastest, or the first in the order of preference that is as fast.

    Where no runtime counts: the one that holds least of those most preferred.
    """
    fastest = fastest_of(candidates, wandered)
    return min(fastest, key=_preference) if fastest else min(candidates, key=_frugality, default=None)


def _preference(row: PointRow) -> tuple[bool, bool, float]:
    """Our own kernels first, what is a step to one or a variant of it later, then by time."""
    own = any(spec.name == row.kernel for spec in LADDER)
    return not own, base_of(row.kernel) is not None, _median(row)


def _frugality(row: PointRow) -> tuple[bool, bool, float]:
    """The same, with what it holds in place of its time."""
    own, variant, _ = _preference(row)
    return own, variant, _positive(FOOTPRINT.figure(row, None)) or math.inf


def _median(row: PointRow) -> float:
    return row.times.median if row.times else math.inf


def _clauses(
    row: PointRow, base: PointRow | None, quantities: Sequence[Quantity], wandered: Mapping[str, Wander]
) -> tuple[Clause, ...]:
    better = [one for one in quantities if one.better and one.key not in FORMULAS]
    said = dict.fromkeys(RUNTIME if one.key in OF_TIME else one for one in better or SHOWN)
    if not timed(row):
        said = dict.fromkeys((*(one for one in said if one.exact), FOOTPRINT))
    ordered = sorted(said, key=lambda one: one is not RUNTIME)
    found = [_clause(one, row, _beside(one, base), wandered) for one in ordered]
    told = [clause for clause in found if clause is not None][:MOST_CLAUSES]
    return tuple(
        sorted(told, key=lambda one: (_unsure(one), row.backend == "cpu" and not one.quantity.exact))
    )


def _beside(quantity: Quantity, base: PointRow | None) -> PointRow | None:
    """The baseline where it has a figure of this quantity that counts."""
    counts = base is not None and (stands(base) if quantity.exact else timed(base))
    return base if counts else None


def _unsure(clause: Clause) -> bool:
    """Whether it decides nothing: what does is said before it."""
    return clause.verdict not in {"better", "worse"}


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
        differ: bool | None = differ_significantly(base, [row], wandered)[0]
    else:
        differ = value != beside if quantity.exact else _disjoint(figure, other)
    return Clause(quantity, value, beside, _verdict(quantity, value, beside, differ=differ))


def _verdict(quantity: Quantity, value: float, base: float, *, differ: bool | None) -> HeadlineVerdict | None:
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


def _lost(rows: Sequence[PointRow], base: PointRow | None, seqlen: int, *, beside: bool) -> Lost | None:
    """The baseline's loss here, else at the next N where it was refused.

    A doubtful runtime is lost only beside one that can be trusted.
    """
    if base is None:
        return None
    later = {row.seqlen: row for row in rows if row.kernel == base.kernel and row.seqlen > seqlen}
    refused = [n for n, row in later.items() if row.status in REFUSED]
    here = _lost_here(base) if beside or not stands(base) else None
    return here or (Lost(min(refused), later[min(refused)].status) if refused else None)


def _lost_here(base: PointRow | None) -> Lost | None:
    if base is None or timed(base):
        return None
    return Lost(base.seqlen, "doubtful" if base.done else base.status)
