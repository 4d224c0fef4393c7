"""Figures of the bundled recordings, as the pages have them."""

from collections.abc import Callable, Sequence
from functools import cache
from statistics import geometric_mean
from typing import NamedTuple

from flashscope.app.control.bundled import AUDITS, STALLED, bundled_sessions
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import THROUGHPUT
from flashscope.profiles.store import load

TORCH = ("torch-math", "torch-efficient", "torch-flash", "torch-cudnn", "torch-auto")
LIBRARIES = ("torch-cudnn", "torch-flash", "flash-attn-3", "flash-attn-4")
Chosen = Callable[[Problem], bool]


def any_problem(_: Problem) -> bool:
    """Every one."""
    return True


@cache
def session_of(name: str) -> Session:
    """A bundled recording."""
    return load(next(path for path in bundled_sessions() if path.stem == name))


@cache
def points_of(name: str) -> tuple[PointRow, ...]:
    """The points of a bundled recording."""
    return tuple(rows(session_of(name)))


def measured() -> list[PointRow]:
    """The points of bundled recordings that have samples.

    That of stalls is made anew with the kernels; audits were taken beside other work.
    """
    names = [path.stem for path in bundled_sessions() if path.stem not in {STALLED, *AUDITS}]
    return [row for name in names for row in points_of(name) if row.trust is not None]


def medians(name: str, kernel: str, chosen: Chosen = any_problem) -> dict[Problem, float]:
    """A kernel's median runtimes in ms, by problem."""
    return {
        row.problem: row.times.median
        for row in points_of(name)
        if row.kernel == kernel and row.done and row.times and chosen(row.problem)
    }


def throughputs(name: str, kernel: str) -> dict[tuple[int, bool, int], float]:
    """A kernel's TFLOP/s by head dim, whether it is causal, and N."""
    return {
        (row.problem.head_dim, row.problem.causal, row.seqlen): float(value_of(THROUGHPUT, row) or 0)
        for row in points_of(name)
        if row.kernel == kernel and row.done
    }


class Ratios(NamedTuple):
    """How many times as fast a kernel is as the fastest of others, by problem."""

    by_problem: dict[Problem, float]

    @property
    def mean(self) -> float:
        """The geometric mean."""
        return geometric_mean(self.by_problem.values())

    @property
    def least(self) -> float:
        """That of the problem where it does worst."""
        return min(self.by_problem.values())

    @property
    def most(self) -> float:
        """That of the problem where it does best."""
        return max(self.by_problem.values())

    @property
    def ahead(self) -> int:
        """In how many problems it is as fast or faster."""
        return sum(ratio >= 1 for ratio in self.by_problem.values())


def ratios(name: str, kernel: str, others: Sequence[str]) -> Ratios:
    """A kernel's speed over that of the fastest of others in each problem that both have."""
    known = [medians(name, other) for other in others]
    return Ratios(
        {
            problem: min(one[problem] for one in known if problem in one) / ms
            for problem, ms in medians(name, kernel).items()
            if any(problem in one for one in known)
        }
    )
