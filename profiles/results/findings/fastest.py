"""Which points of one problem are the fastest: several where runtimes cannot be told apart."""

from collections.abc import Iterable, Mapping

from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.profiles.results.compare.noise import Wander
from flashscope.profiles.results.compare.significance import differ_significantly, has_rounds
from flashscope.profiles.results.model.rows import PointRow

ROUNDING = frozenset(spec.name for spec in KERNELS if spec.rounding is not None)


def exact(kernel: str) -> bool:
    """Whether a kernel computes attention on the inputs as they are, not on ones rounded to 8 bits."""
    return kernel not in ROUNDING


def stands(row: PointRow) -> bool:
    """Whether what is exact of a point is worth a sentence."""
    return row.done and not row.altered


def timed(row: PointRow) -> bool:
    """Whether its runtime is, too: nobody doubts it."""
    trusted = row.trust is not None and row.trust.word in {"solid", "fair"}
    return stands(row) and trusted and has_rounds(row)


def fastest_of(rows: Iterable[PointRow], wandered: Mapping[str, Wander]) -> list[PointRow]:
    """The fastest exact point whose runtime counts, and all that are as fast for all that the rounds tell.

    Args:
        rows: Points of one problem.
        wandered: See `profiles.results.compare.noise.wanders`.
    """
    candidates = [row for row in rows if row.times and exact(row.kernel) and timed(row)]
    if not candidates:
        return []
    fastest = min(candidates, key=lambda row: row.times.median if row.times else 0.0)
    others = [row for row in candidates if row is not fastest]
    differ = differ_significantly(fastest, others, wandered)
    return [fastest, *(row for row, other in zip(others, differ, strict=True) if not other)]
