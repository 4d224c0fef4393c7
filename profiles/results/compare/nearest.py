"""The point most like one that has no partner, and what differs between the two."""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from flashscope.profiles.plan.problem_words import pass_words, ragged_words, scoring_words
from flashscope.profiles.results.compare.model import Lone
from flashscope.profiles.results.model.curves import counted_noun, mask_words
from flashscope.profiles.results.model.rows import PointRow

DECISIVE = 7  # fields of a shape


class ProblemShape(NamedTuple):
    """What a problem is besides its lengths, each field as text; the first decide which code runs."""

    passes: str
    head_dim: str
    dtype: str
    mask: str
    lengths: str
    pages: str
    scoring: str
    scale: str
    heads: str
    batch: str
    seed: str

    @classmethod
    def of(cls, row: PointRow) -> "ProblemShape":
        """The shape of a point's problem."""
        problem = row.problem
        window = problem.window if "window" in problem.features else None
        grouped = problem.key_heads != problem.heads
        return cls(
            passes=pass_words(problem) or problem.passes,
            head_dim=f"d {problem.head_dim}",
            dtype=problem.dtype,
            mask=mask_words(causal=problem.causal, window=window, blocks=row.block_mask) or "no mask",
            lengths=ragged_words(problem) or "full lengths",
            pages=f"pages of {problem.page_size}" if problem.page_size else "no pages",
            scoring=scoring_words(problem) or "plain scores",
            scale="the usual scale" if problem.scale is None else f"scale {problem.scale:g}",
            heads=counted_noun(problem.heads, "head")
            + (f" and {counted_noun(problem.key_heads, 'kv head')}" if grouped else ""),
            batch=f"batch {problem.batch}",
            seed=f"seed {problem.seed}",
        )


class Neighbours:
    """The points of one session, to look for the nearest among them."""

    def __init__(self, rows: Iterable[PointRow]) -> None:
        self._of_kernel: dict[str, dict[ProblemShape, list[PointRow]]] = {}
        for row in rows:
            self._of_kernel.setdefault(row.kernel, {}).setdefault(ProblemShape.of(row), []).append(row)
        self._closest = cache(self._closest_shapes)

    def lone(self, row: PointRow, regime: str) -> Lone:
        """The point beside the nearest of its kernel: most of its shape shared, then the nearest length.

        Args:
            row: The point.
            regime: What differs in how the two sessions sampled, in words; empty: nothing.
        """
        if row.kernel not in self._of_kernel:
            return Lone(row, None, f"there is no {row.kernel} there")
        shape = ProblemShape.of(row)
        near = min(self._closest(row.kernel, shape), key=lambda one: _distance(row, one))
        told = [_lengths(row, near), *_differing(shape, ProblemShape.of(near)), regime]
        return Lone(row, near, ", ".join(filter(None, told)) or "it was measured more often here")

    def _closest_shapes(self, kernel: str, shape: ProblemShape) -> list[PointRow]:
        """The points of the shapes that differ in the fewest fields, above all in what decides the code."""
        shapes = self._of_kernel[kernel]
        apart = {one: _apart(shape, one) for one in shapes}
        least = min(apart.values())
        return [row for one, rows in shapes.items() if apart[one] == least for row in rows]


def _apart(here: ProblemShape, there: ProblemShape) -> tuple[int, int]:
    """How many fields differ: of those that decide which code runs, and of the others."""
    return len(_differing(here[:DECISIVE], there[:DECISIVE])), len(_differing(here, there))


def _differing(here: Sequence[str], there: Sequence[str]) -> list[str]:
    return [f"{theirs} instead of {ours}" for ours, theirs in zip(here, there, strict=True) if ours != theirs]


def _distance(row: PointRow, other: PointRow) -> float:
    """How many doublings lie between two points' lengths."""
    here, there = row.problem, other.problem
    return abs(math.log2(there.seqlen_q / here.seqlen_q)) + abs(math.log2(there.seqlen_k / here.seqlen_k))


def _lengths(row: PointRow, other: PointRow) -> str:
    here, there = row.problem, other.problem
    if (here.seqlen_q, here.seqlen_k) == (there.seqlen_q, there.seqlen_k):
        return ""
    if here.seqlen_q == here.seqlen_k and there.seqlen_q == there.seqlen_k:
        return f"N = {there.seqlen_q} instead of {here.seqlen_q}"
    return f"{there.seqlen_q} × {there.seqlen_k} instead of {here.seqlen_q} × {here.seqlen_k}"
