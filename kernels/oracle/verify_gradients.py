"""Correct before fast, backward: compare dQ, dK and dV with the float64 oracle.

The criterion is that of `kernels.oracle.verify`, for each gradient g: with `low` the gradients of plain
attention in the problem's dtype (S, P, dP, dS rounded to it, sums in float32),

    max|g - ref| <= 2 max|low - ref| + 2 max|(ref + 0.3 - 0.3) - ref| + what float32's own errors come to

and every row by itself, see `kernels.oracle.gradient_bounds`. All rows are compared, or those that are drawn
(`kernels.oracle.reference_gradients.GradientRows`), each by the same bound of its own. NaN never passes.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.oracle.gradient_bounds import Costs, gradient_bounds
from flashscope.kernels.oracle.reference import Masking, Scoring
from flashscope.kernels.oracle.reference_gradients import GradientRows, plain_gradients
from flashscope.kernels.oracle.row_bounds import RowBounds, norms_of
from flashscope.kernels.oracle.verdict import OF_A_ROW, Deviation, Verdict
from flashscope.kernels.oracle.verify import deviation, largest_difference, rounding_bound, storage_dtype
from flashscope.kernels.workload.arrays import array_module, in_float64, on_host
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs

NAMES = Gradients("dQ", "dK", "dV")


class GradientOracle(NamedTuple):
    """What one gradient is compared with, in host memory, and the errors that pass.

    Attributes:
        name: `dQ`, `dK` or `dV`.
        shape: Of the whole gradient.
        rows: Which of its rows are compared, in every head.
        exact: The oracle's of these rows, float64.
        bound: The largest error that passes.
        by_row: The errors of each row that pass.
    """

    name: str
    shape: tuple[int, ...]
    rows: Sequence[int]
    exact: Any
    bound: float
    by_row: RowBounds

    def errors(self, found: Any) -> tuple[Deviation, Deviation]:
        """The largest error of all, and the worst row: sequence, head and row of Q, or of K and V.

        Computed where the gradient is, a head at a time: there may be no room for all of them in float64.

        Raises:
            ValueError: Its shape is another than the oracle's.
        """
        if found.shape != self.shape:
            raise ValueError(f"{self.name} has the shape {found.shape}, not {self.shape}.")
        xp, largest, of_rows = array_module(found), np.zeros(found.shape[:2]), np.zeros(self.exact.shape[:3])
        picked = xp.asarray(self.rows)
        for head in np.ndindex(largest.shape):
            mine, exact = in_float64(found[head][picked]), xp.asarray(self.exact[head])
            largest[head] = largest_difference(mine, exact)
            of_rows[head] = on_host(norms_of(mine - exact))
        return (
            Deviation(self.name, float(largest.max()), self.bound),
            deviation(self.name + OF_A_ROW, self.by_row.worst_row(of_rows), self.rows),
        )


class GradientCriterion(NamedTuple):
    """All that a problem's gradients are judged by; the same for every kernel."""

    oracles: tuple[GradientOracle, ...]
    rows: int

    def judge(self, gradients: Gradients) -> Verdict:
        """Compare dQ, dK and dV, NumPy or CuPy in the shapes of Q, K and V, with the oracle."""
        pairs = zip(self.oracles, gradients, strict=True)
        return Verdict(tuple(one for oracle, found in pairs for one in oracle.errors(found)), self.rows)


def gradient_criterion(
    problem: Problem, inputs: Inputs, grad_output: Any, drawn: GradientRows | None = None
) -> GradientCriterion:
    """Compute the oracle of a problem's gradients, and the errors that pass.

    Args:
        problem: What is computed.
        inputs: Q, K and V it is computed from; NumPy or CuPy.
        grad_output: dO, a NumPy or CuPy array like these.
        drawn: The rows that are compared, and an answer whose O and LSE were judged; None: all rows.
    """
    arrays, masking = (*inputs.qkv, grad_output), Masking(problem.causal, problem.window, problem.block_mask)
    dtype, scale = storage_dtype(problem.dtype), problem.softmax_scale
    scoring, costs = Scoring.of(problem, inputs), Costs(problem, arrays, drawn)
    gradients = partial(plain_gradients, arrays, masking, scale=scale, scoring=scoring, drawn=drawn)
    exact = gradients(compute_dtype="float64", storage_dtype="float64", also=costs.add)
    low = gradients(compute_dtype="float32", storage_dtype=dtype)
    bounds = gradient_bounds(problem, arrays, costs, exact, low)
    lengths = problem.seqlen_q, problem.seqlen_k
    rows, keys = (list(range(length)) for length in lengths) if drawn is None else drawn[:2]
    oracles = []
    for name, whole, of, ref, one, bound in zip(
        NAMES, inputs.qkv, (rows, keys, keys), exact, low, bounds, strict=True
    ):
        largest = rounding_bound(one, ref, dtype) + float(bound.exactly.max())
        norms = on_host(norms_of(ref))
        by_row = RowBounds(bound.rows, lse=None, norms=norms + (norms == 0), expected=None)
        oracles.append(GradientOracle(name, whole.shape, of, on_host(ref), largest, by_row))
    return GradientCriterion(tuple(oracles), problem.batch * problem.heads * len(rows))
