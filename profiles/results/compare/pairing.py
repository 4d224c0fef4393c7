"""Which points of two sessions are the same point: like with like only."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare.model import Lone
from flashscope.profiles.results.compare.nearest import Neighbours
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session

PairKey: TypeAlias = tuple[str, Problem, int]
"""Kernel, problem, and which of its repetitions within one plan, from 0."""


class Pairing(NamedTuple):
    """What pairs, in the baseline's order, and what has no partner."""

    pairs: tuple[tuple[PointRow, PointRow], ...]
    base_only: tuple[Lone, ...]
    other_only: tuple[Lone, ...]


class Regime(NamedTuple):
    """What of a protocol makes points other points: figures of two regimes answer different questions."""

    cold: bool
    in_turns: bool

    @classmethod
    def of(cls, session: Session) -> "Regime":
        """How the session's points were sampled."""
        return cls(session.plan.protocol.cold, session.plan.protocol.interleave)

    @property
    def words(self) -> tuple[str, str]:
        """Cache and turns."""
        return "cold" if self.cold else "warm", "in turns" if self.in_turns else "one kernel after the other"


def pairings(base: Session, others: Iterable[Session]) -> list[Pairing]:
    """The points of the baseline and of each other, by kernel, problem and regime; whatever became of them.

    A problem that a plan holds several times pairs repetition by repetition. The points of the drift check
    are no points of the plan: they tell the noise (see profiles.results.compare.noise).
    """
    ours = _Side(Regime.of(base), _by_key(base))
    return [_paired(ours, _Side(Regime.of(other), _by_key(other))) for other in others]


class _Side(NamedTuple):
    regime: Regime
    rows: dict[PairKey, PointRow]


def _paired(base: _Side, other: _Side) -> Pairing:
    ours, theirs = base.rows, other.rows
    common = ours.keys() & theirs.keys() if base.regime == other.regime else set()
    return Pairing(
        pairs=tuple((row, theirs[key]) for key, row in ours.items() if key in common),
        base_only=_alone(ours, common, theirs, _told(base.regime, other.regime)),
        other_only=_alone(theirs, common, ours, _told(other.regime, base.regime)),
    )


def _by_key(session: Session) -> dict[PairKey, PointRow]:
    seen: Counter[tuple[str, Problem]] = Counter()
    found: dict[PairKey, PointRow] = {}
    for row in rows(session):
        cell = row.kernel, row.problem
        key = *cell, seen[cell]
        found[key] = row
        seen[cell] += 1
    return found


def _told(here: Regime, there: Regime) -> str:
    """How the regime there differs, in words; empty where it does not."""
    pairs = zip(there.words, here.words, strict=True)
    return ", ".join(f"{theirs} instead of {ours}" for theirs, ours in pairs if theirs != ours)


def _alone(
    rows_here: dict[PairKey, PointRow], common: set[PairKey], there: dict[PairKey, PointRow], regime: str
) -> tuple[Lone, ...]:
    neighbours = Neighbours(there.values())
    return tuple(neighbours.lone(row, regime) for key, row in rows_here.items() if key not in common)
