"""The errors that pass in single rows of dQ, dK and dV, after the pattern of `kernels.oracle.row_bounds`.

With |.| the L2 norm over the head dim, `ref` the oracle's row, `low` that of plain attention in the
problem's dtype, i the query rows and j the keys,

    |dQ_i - ref| <= 2 |low - ref| + 1.5 u scale (sqrt(sum_j (dS_ij |K_j|)^2) + e_i |sum_j P_ij K_j|)
                    + u' |ref| + scale sum_j |K_j| (r_i |dS_ij| + t_i P_ij) + tiny
    |dK_j - ref| <= 2 |low - ref| + 1.5 u scale (sqrt(sum_i (dS_ij |Q_i|)^2) + sqrt(sum_i (e_i P_ij |Q_i|)^2))
                    + u' |ref| + scale sum_i |Q_i| (r_i |dS_ij| + t_i P_ij) + tiny
    |dV_j - ref| <= 2 |low - ref| + 1.5 u sqrt(sum_i (P_ij |dO_i|)^2)
                    + u' |ref| + sum_i r_i P_ij |dO_i| + tiny

    e_i = sqrt(sum (dO_i O_i)^2),  r_i = eps (1 + sqrt(d) c_i + |LSE_i| + w)
    t_i = eps |dO_i| max|v| (1 + 2 sqrt(d) + sqrt(d) c_i + w)

A softcap with slope g_ij multiplies P by g_ij in all terms of dQ and dK, and an entry of dS is off by as much
as g is besides, 2 eps (2 + g_ij sqrt(d) c_i / softcap) |dS_ij / g_ij|.
Behind a bias 4 (|LSE_i| + ln Nk) stands beside sqrt(d) c_i, as in `row_bounds`.

u and u' are the unit roundoffs of P's and dS's dtype and of the gradients', which are one. The first two
terms in u are what rounding P and dS costs on average, and half as much again. O reaches the backward pass
rounded, so that delta = rowsum(dO O) is off by u e_i, the same for all of a row: where one key dominates,
dP - delta vanishes and this is all that is left. What eps multiplies are float32's own errors, as there: of
a score (c_i bounds it), of LSE and of P that is computed again from it (r_i), of dP, delta and O (t_i), and
w for sums that drift. tiny is what entries of dS below the dtype's smallest numbers can come to.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from flashscope.kernels.oracle.reference_gradients import Chunk, GradientArrays, GradientRows, gradient_shapes
from flashscope.kernels.oracle.row_bounds import (
    FLOAT32_EPS,
    LUCK,
    UNIT_ROUNDOFF,
    biased_scores,
    norms_of,
    of_query_heads,
)
from flashscope.kernels.workload.arrays import array_module, on_host
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Gradients

SMALLEST: dict[Dtype, float] = {"float32": 2.0**-126, "float16": 2.0**-24, "bfloat16": 2.0**-126}
"""Of an entry of dS: what is smaller may be flushed to zero, or rounded to the next multiple of it."""


class RoundingTerms(NamedTuple):
    """What rounding costs a row, (batch, heads, N) each, float64: of dQ by query head, else by K/V head.

    Attributes:
        rounding: sqrt of the sum of squares of what u multiplies.
        delta: That which the rounding of O costs by way of delta; of a dK row its square while it is summed.
        exactly: What eps multiplies.
    """

    rounding: Any
    delta: Any
    exactly: Any


class Bounds(NamedTuple):
    """The largest L2 error of each row that passes, and its part that is float32's own; NumPy, float64."""

    rows: Any
    exactly: Any


class Costs:
    """What rounding costs the rows of dQ, dK and dV: the sums over all rows and keys, chunk by chunk.

    Args:
        problem: What is computed.
        arrays: Q, K, V and dO.
        drawn: The rows that are computed; None: all.
    """

    def __init__(self, problem: Problem, arrays: GradientArrays, drawn: GradientRows | None) -> None:
        xp = array_module(arrays[0])
        shapes = [shape[:3] for shape in gradient_shapes(arrays, drawn)]
        self._problem = problem
        self._dq, *self._of_keys = (
            RoundingTerms(*(xp.zeros(shape) for _ in RoundingTerms._fields)) for shape in shapes
        )
        self._largest = tuple(of_query_heads(problem, array)[..., 0] for array in arrays[1:3])

    def add(self, one: Chunk) -> None:
        """Add the costs of a chunk of the oracle's rows."""
        problem, place = self._problem, (one.sequence, one.head)
        scale, group = abs(problem.softmax_scale), problem.heads // problem.key_heads
        errors = _row_errors(problem, one, *(of_heads[place] for of_heads in self._largest))
        off = _errors_of_ds(problem, one, errors)
        if one.of != "keys":
            _add_query_terms(self._dq, (*place, one.rows), one, scale, off)
        if one.of != "rows":
            place = (one.sequence, one.head // group)
            _add_key_terms(self._of_keys, place, one, scale, (off, errors.relative))

    def terms(self) -> tuple[RoundingTerms, RoundingTerms, RoundingTerms]:
        """The sums, when all chunks have been added."""
        dk, dv = (one._replace(rounding=one.rounding**0.5, delta=one.delta**0.5) for one in self._of_keys)
        return self._dq, dk, dv


def gradient_bounds(
    problem: Problem,
    arrays: GradientArrays,
    costs: Costs,
    exact: Gradients,
    low: Gradients,
) -> tuple[Bounds, Bounds, Bounds]:
    """The bounds of dQ, dK and dV, by this module's formulas.

    Args:
        problem: What is computed.
        arrays: Q, K, V and dO.
        costs: With all of the oracle's chunks.
        exact: The oracle's gradients.
        low: Those of plain attention in the problem's dtype.
    """
    u, dims = UNIT_ROUNDOFF[problem.dtype], _widest(problem) ** 0.5
    tiny = SMALLEST[problem.dtype]
    made = []
    for term, ref, one, flushed in zip(costs.terms(), exact, low, _flushed(problem, arrays), strict=True):
        exactly = term.exactly + tiny * (flushed + 2 * dims)
        spread = LUCK * u * (term.rounding + term.delta)
        rows = 2 * norms_of(one.astype("float64") - ref) + spread + u * norms_of(ref) + exactly
        made.append(Bounds(on_host(rows), on_host(exactly)))
    dq, dk, dv = made
    return dq, dk, dv


class RowErrors(NamedTuple):
    """What is sqrt(d) c, r and t of each query row, (R, 1)."""

    score: Any
    relative: Any
    absolute: Any


def _row_errors(problem: Problem, one: Chunk, largest_k: float, largest_v: float) -> RowErrors:
    """The errors of a chunk's rows."""
    xp, dims = array_module(one.q), _widest(problem) ** 0.5
    drift = max(problem.seqlen_k, problem.seqlen_q * problem.heads // problem.key_heads) ** 0.5
    score = dims * abs(problem.softmax_scale) * norms_of(one.q) * largest_k
    lse = abs(xp.where(xp.isfinite(one.lse), one.lse, 0))
    if problem.alibi:
        score = score + biased_scores(lse, problem.seqlen_k)
    relative = FLOAT32_EPS * (1 + score + lse + drift)
    absolute = FLOAT32_EPS * norms_of(one.grad_output) * largest_v * (1 + 2 * dims + score + drift)
    return RowErrors(score[:, None], relative[:, None], absolute[:, None])


def _widest(problem: Problem) -> int:
    """Columns of the widest of Q, K and V: d where one is meant for all."""
    return max(problem.head_dim, problem.value_dim)


def _errors_of_ds(problem: Problem, one: Chunk, errors: RowErrors) -> Any:
    """Float32's own errors of each entry of dS, (R, Nk)."""
    off = errors.relative * abs(one.ds) + errors.absolute * one.p * one.slope
    if problem.softcap is None:
        return off
    slopes = 2 * FLOAT32_EPS * (2 + one.slope * errors.score / problem.softcap)
    return off + slopes * abs(one.ds_capped)


def _add_query_terms(
    dq: RoundingTerms, place: tuple[int, int, slice], one: Chunk, scale: float, off: Any
) -> None:
    k = norms_of(one.k)
    dq.rounding[place] = scale * norms_of(one.ds * k)
    dq.delta[place] = scale * _delta_errors(one)[:, 0] * norms_of((one.p * one.slope) @ one.k)
    dq.exactly[place] = scale * (off @ k)


def _add_key_terms(
    terms: Sequence[RoundingTerms], place: tuple[int, int], one: Chunk, scale: float, errors: tuple[Any, Any]
) -> None:
    (dk, dv), (off, relative) = terms, errors
    q, grad = (norms_of(array)[:, None] for array in (one.q, one.grad_output))
    dk.rounding[place] += ((scale * one.ds * q) ** 2).sum(axis=0)
    dk.delta[place] += ((scale * one.p * one.slope * _delta_errors(one) * q) ** 2).sum(axis=0)
    dk.exactly[place] += scale * (off * q).sum(axis=0)
    dv.rounding[place] += ((one.p * grad) ** 2).sum(axis=0)
    dv.exactly[place] += (relative * one.p * grad).sum(axis=0)


def _delta_errors(one: Chunk) -> Any:
    """What is e of each query row, (R, 1)."""
    return norms_of(one.grad_output * one.output)[:, None]


def _flushed(problem: Problem, arrays: GradientArrays) -> tuple[Any, Any, Any]:
    """What multiplies the smallest entry of dS, or of P: the norm of all that meets it, (batch, heads, 1)."""
    q, k, _, grad_output = (_whole_norms(array) for array in arrays)
    scale, group = abs(problem.softmax_scale), problem.heads // problem.key_heads
    by_group = (*problem.k_shape[:2], group)
    of_q, of_grad = ((x.reshape(by_group) ** 2).sum(axis=2) ** 0.5 for x in (q, grad_output))
    return scale * k.repeat(group, axis=1)[..., None], scale * of_q[..., None], of_grad[..., None]


def _whole_norms(array: Any) -> Any:
    """The L2 norm of each head, (batch, heads)."""
    xp = array_module(array)
    return xp.stack([xp.stack([xp.linalg.norm(h.astype("float32")) for h in one]) for one in array])
