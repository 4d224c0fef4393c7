"""The errors that pass in single rows of O and LSE, where the largest of all is too mild a judge.

A causal problem's first rows attend to few keys, so they are large and err most; one bound for all of O, set
by them, lets a later row be wrong by ten percent. So every row has a bound of its own. With |.| the L2 norm
over the head dim and `ref`, `low`, c and w as in `kernels.oracle.verify`, but of that row,

    |O - ref|   <= 2 |low - ref| + 1.5 u n + u' |ref| + eps ((1 + sqrt(d) c) max|v| + w |ref|) + 2 sqrt(d) t
    |LSE - ref| <= 2 |low - ref| + 1.5 u m + eps (|ref| + sqrt(d) c + w)

    n = sqrt(sum (p |v|)^2),  m = sqrt(sum (p s)^2)        of the row's weights p and scores s

u and u' are the unit roundoffs of P's and of O's dtype, t is the smallest number above 0 of O's. The second
terms are what rounding P, or S, costs a row on average and half as much again: in a single row `low` can be
exact by luck. sqrt(d) is the drift of a score's own sum of d products, as w is that of Nk terms.

Behind a bias, eps 4 (|LSE| + ln Nk) stands beside sqrt(d) c in both: what rounding biased scores costs, as
sum p |s| is at most |LSE| + ln Nk.

In 8 bits a single row errs so much that a lost tile of keys hides in it, but not in many rows at once. There
the rows are also judged together, an eighth of them after the other, by the root mean square of the shares
that they use of their bounds. `low` draws its errors from the same distribution as the kernel, so

    rms(|O - ref| / bound) <= rms((1.2 |low - ref| + the terms without luck) / bound) + 1 / sqrt(rows).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.oracle.reference import Attended
from flashscope.kernels.workload.arrays import array_module, in_float64, on_host
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Inputs

FLOAT32_EPS = 2.0**-23
UNIT_ROUNDOFF: dict[Dtype, float] = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
SMALLEST: dict[Dtype, float] = {"float32": 2.0**-149, "float16": 2.0**-24, "bfloat16": 2.0**-133}
E4M3_ROUNDOFF, SCORE_ROUNDOFF = (
    2.0**-4,
    2.0**-11,
)  # of P and of S as `kernels.catalogue.fp8` rounds them
LUCK = 1.5  # of what rounding costs a row on average
PARTS = 8  # of the rows, judged together


class WorstRow(NamedTuple):
    """The row, or the part of the rows, that comes nearest to its bound or exceeds it most.

    Attributes:
        error: What it is off by; NaN where it holds one.
        bound: The largest error that passes there.
        place: Its index among sequences, heads and the rows compared; None of a part.
    """

    error: float
    bound: float
    place: tuple[int, int, int] | None = None


class RowBounds(NamedTuple):
    """The errors that pass, (batch, heads, R), float64 in host memory.

    Attributes:
        output: L2 norms of a row's error of O.
        lse: Errors of LSE.
        norms: |ref| of each row of O, 1 where it is 0: what its error is told relative to.
        expected: What is expected of O's error in many rows; None: they are not judged together.
    """

    output: Any
    lse: Any
    norms: Any
    expected: Any

    def worst_row(self, errors: Any) -> WorstRow:
        """The worst row of O by the norms of its rows' errors, told relative to the oracle's norm."""
        index = _argmax(errors / self.output)
        return WorstRow(float((errors / self.norms)[index]), float((self.output / self.norms)[index]), index)

    def worst_lse(self, lse: Any, exact: Any) -> WorstRow:
        """The worst row of LSE (batch, heads, R); one without keys must be exactly -inf."""
        same = lse == exact
        errors = abs(np.where(same, 0, lse) - np.where(same, 0, exact))
        index = _argmax(errors / self.lse)
        return WorstRow(float(errors[index]), float(self.lse[index]), index)

    def worst_part(self, errors: Any) -> WorstRow:
        """The worst eighth of the rows: the root mean square of the shares it uses of its rows' bounds."""
        used, expected = errors / self.output, self.expected / self.output
        found = [
            WorstRow(_rms(used_part), _rms(expected_part) + used_part.size**-0.5)
            for used_part, expected_part in zip(_parts(used), _parts(expected), strict=True)
        ]
        return max(found, key=lambda one: np.inf if np.isnan(one.error) else one.error / one.bound)


def row_bounds(
    problem: Problem,
    inputs: Inputs,
    rows: list[int],
    exact: Attended,
    low: Attended,
    *,
    rounding: Rounding | None = None,
) -> RowBounds:
    """The bounds of a problem's rows, by this module's formulas.

    Args:
        problem: What is computed.
        inputs: Q, K and V as given.
        rows: The query rows compared, R of them.
        exact: The oracle with its spreads, on what is judged: the inputs as given, or as rounded to 8 bits.
        low: Plain attention in the kernel's precision.
        rounding: How the inputs were rounded to 8 bits; None: they were not.
    """
    output, lse, value_spread, score_spread = (on_host(array) for array in exact)
    scores, largest_v = _largest_scores(problem, inputs, rows), of_query_heads(problem, inputs.v)
    drift, dot_drift = problem.seqlen_k**0.5, problem.head_dim**0.5 * scores
    finite_lse, norms = abs(np.where(np.isinf(lse), 0, lse)), norms_of(output)
    if problem.alibi:
        dot_drift = dot_drift + biased_scores(finite_lse, problem.seqlen_k)
    exactly = UNIT_ROUNDOFF[problem.dtype] * norms
    exactly += FLOAT32_EPS * ((1 + dot_drift) * largest_v + drift * norms)
    exactly += 2 * problem.value_dim**0.5 * SMALLEST[problem.dtype]
    lse_exactly = FLOAT32_EPS * (finite_lse + dot_drift + drift)
    roundoff = score_roundoff = UNIT_ROUNDOFF[problem.dtype]
    if rounding is not None:
        roundoff, score_roundoff = E4M3_ROUNDOFF, SCORE_ROUNDOFF
        exactly += rounding.product_error(rounding.key_block) * (norms + value_spread)
        lse_exactly += rounding.score_error(problem.head_dim) * scores
    low_output, low_lse = norms_of(on_host(low.output) - output), _lse_errors(on_host(low.lse), lse)
    return RowBounds(
        output=2 * low_output + LUCK * roundoff * value_spread + exactly,
        lse=2 * low_lse + LUCK * score_roundoff * score_spread + lse_exactly,
        norms=np.where(norms == 0, 1, norms),
        expected=None if rounding is None else 1.2 * low_output + exactly,
    )


def biased_scores(lse: Any, seqlen_k: int) -> Any:
    """What eps multiplies for the rounding of a bias and of a row's scores with it, from |LSE| of the row."""
    return 4 * (lse + math.log(seqlen_k))


def _lse_errors(found: Any, exact: Any) -> Any:
    """|found - exact|, 0 where the oracle keeps no key."""
    kept = np.isfinite(exact)
    return abs(np.where(kept, found, 0) - np.where(kept, exact, 0))


def _largest_scores(problem: Problem, inputs: Inputs, rows: list[int]) -> Any:
    """An upper bound of |scale q.k| in each row (Cauchy-Schwarz), (batch, heads, R)."""
    picked = inputs.q[:, :, array_module(inputs.q).asarray(rows)]
    norms = norms_of(on_host(picked))
    return abs(problem.softmax_scale) * norms * of_query_heads(problem, inputs.k)


def of_query_heads(problem: Problem, array: Any) -> Any:
    """The largest norm of a row of K or V that each query head meets, (batch, heads, 1)."""
    largest = [[float(norms_of(head).max()) for head in sequence] for sequence in array]
    return np.repeat(np.array(largest), problem.heads // problem.key_heads, axis=1)[:, :, None]


def norms_of(rows: Any) -> Any:
    """L2 norms over the last axis, in float64: a square may leave the range of a dtype that has the value."""
    rows = in_float64(rows)
    return (rows * rows).sum(axis=-1) ** 0.5


def _argmax(shares: Any) -> tuple[int, int, int]:
    """The index of the largest; of the first NaN, if there is any."""
    sequence, head, row = np.unravel_index(int(shares.argmax()), shares.shape)
    return int(sequence), int(head), int(row)


def _parts(shares: Any) -> list[Any]:
    """Eighths of the rows, of all heads."""
    return [part for part in np.array_split(shares, PARTS, axis=-1) if part.size]


def _rms(shares: Any) -> float:
    return float((shares * shares).mean() ** 0.5)
