"""What a heat map of a comparison shows: kernels x problems, each cell a pair."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashscope.app.figures.strands import CHANGES, NO_PLACE, PointIndices
from flashscope.app.words.results.verdicts import pair_ratio_text, spoken
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare import Contrast, Pair
from flashscope.profiles.results.model.curves import Curve

LEAST_SPAN = (
    0.02  # of the colours, as a logarithm: a map of tiny changes must not look like one of large ones
)
SHARE_WITHIN = 98  # percent of the cells that the colours tell apart; what is further out has the last one


@dataclass(frozen=True, eq=False)
class PairGrid:
    """One other session beside the baseline; arrays are (kernels, problems).

    Attributes:
        kernels: The rows.
        problems: The columns, curve by curve with rising N.
        curves: The curve of each column.
        change: The natural logarithm of the ratio, infinite where one side is 0, NaN where there is none.
        sure: Whether the verdict is that it changed.
        place: The pair's number in the comparison, -1 where a cell has no pair.
        glyph: The verdict, empty where a cell has no pair.
        span: The logarithm that the ends of the colours stand for.
    """

    kernels: tuple[str, ...]
    problems: tuple[Problem, ...]
    curves: tuple[Curve, ...]
    change: NDArray[np.float64]
    sure: NDArray[np.bool_]
    place: PointIndices
    glyph: NDArray[np.str_]
    span: float

    @property
    def groups(self) -> list[tuple[int, int, str]]:
        """First column, number of columns and name of each curve."""
        found: list[tuple[int, int, str]] = []
        for column, curve in enumerate(self.curves):
            if not column or self.curves[column - 1] != curve:
                found.append((column, 0, curve.label))
            first, count, label = found[-1]
            found[-1] = (first, count + 1, label)
        return found

    def texts(self, rows: PointIndices, columns: PointIndices, *, ratios: bool) -> list[str]:
        """What is written into cells: the verdicts, and the ratios too if asked for."""
        glyphs: list[str] = self.glyph[rows, columns].tolist()
        changes = self.change[rows, columns].tolist()
        if not ratios:
            return glyphs
        return [
            f"{glyph} {pair_ratio_text(math.exp(change))}" if math.isfinite(change) else glyph
            for glyph, change in zip(glyphs, changes, strict=True)
        ]


def grid_of(contrast: Contrast, first: int, curves: Mapping[Problem, Curve]) -> PairGrid:
    """The grid of one session.

    Args:
        contrast: The session beside the baseline.
        first: The place of its first pair in the comparison.
        curves: The curve that each problem's points belong to.
    """
    cells = [(pair.kernel, pair.base.problem) for pair in contrast.pairs]
    cells += [(lone.row.kernel, lone.row.problem) for lone in (*contrast.base_only, *contrast.other_only)]
    kernels = {kernel: row for row, kernel in enumerate(dict.fromkeys(kernel for kernel, _ in cells))}
    problems = {problem: column for column, problem in enumerate(_ordered(cells, curves))}
    change = np.full((len(kernels), len(problems)), np.nan)
    sure, place = np.zeros(change.shape, dtype=np.bool_), np.full(change.shape, NO_PLACE, dtype=np.intp)
    glyph = np.full(change.shape, "", dtype="<U1")
    for number, pair in enumerate(contrast.pairs, first):
        cell = kernels[pair.kernel], problems[pair.base.problem]
        place[cell], change[cell], sure[cell] = number, _log(pair), pair.verdict in CHANGES
        glyph[cell] = spoken(pair).glyph
    of_columns = tuple(curves[problem] for problem in problems)
    return PairGrid(tuple(kernels), tuple(problems), of_columns, change, sure, place, glyph, _span(change))


def _ordered(cells: Sequence[tuple[str, Problem]], curves: Mapping[Problem, Curve]) -> list[Problem]:
    """The problems curve by curve, those in the order of their first point, by rising length."""
    problems = dict.fromkeys(problem for _, problem in cells)
    order = {curve: number for number, curve in enumerate(dict.fromkeys(curves[one] for one in problems))}
    return sorted(problems, key=lambda one: (order[curves[one]], one.seqlen_k, one.seqlen_q))


def _log(pair: Pair) -> float:
    if pair.ratio:
        return math.log(pair.ratio)
    return {"more": math.inf, "less": -math.inf}.get(pair.verdict or "", math.nan)


def _span(change: NDArray[np.float64]) -> float:
    known = np.abs(change[np.isfinite(change)])
    return max(LEAST_SPAN, float(np.percentile(known, SHARE_WITHIN)) if known.size else 0.0)
