"""Correct before fast: compare what a kernel returned with the float64 oracle.

The criterion is that of FlashAttention's own tests. With `ref` the oracle and `low` plain attention in the
problem's dtype (S, P and O rounded to it, sums in float32),

    max|O - ref|   <= 2 max|low - ref| + 2 max|(ref + 0.3 - 0.3) - ref| + eps ((1 + c) max|V| + w max|ref|)
    max|LSE - ref| <= the same of low's and the oracle's LSE + eps (max|ref| + c + w)

where 0.3 is added in that dtype, for LSE in float32. The eps terms (eps = 2^-23) are ours and negligible in
16 bits. In float32 `low` can be exact by luck on a tiny problem, and it sums pairwise where a tiled kernel
keeps one running sum. So two effects are always allowed: one float32 rounding of the scores, which
c = |scale| max|q| max|k| (norms of rows) bounds, and the drift of a running sum of Nk terms, w = sqrt(Nk):
rounding errors accumulate like a random walk (the rule of thumb in Higham, Accuracy and Stability of
Numerical Algorithms).

NaN never passes, and LSE must be exactly -inf where a row keeps no key.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from kernels.arrays import array_module
from kernels.launch import Inputs
from kernels.mask import Mask
from kernels.problem import Dtype, Problem
from kernels.reference import attention_reference, plain_attention

FLOAT32_EPS = 2.0**-23
EDGE = 64  # every kernel's tile sizes divide or are divided by this


class Verdict(NamedTuple):
    """Outcome of one comparison.

    Attributes:
        max_abs_error: max |O - oracle| over the rows compared; NaN or inf when O holds one.
        bound: The largest error that passes.
        lse_error: max |LSE - oracle's LSE|; inf when a row without keys does not hold exactly -inf. None:
            there is no LSE to compare.
        lse_bound: The largest LSE error that passes; None as above.
        rows: Query rows compared, of all batch * heads * seqlen_q.
        passed: Every error there is lies within its bound and nothing is NaN.
    """

    max_abs_error: float
    bound: float
    lse_error: float | None
    lse_bound: float | None
    rows: int
    passed: bool


def verify(problem: Problem, inputs: Inputs, output: Any, lse: Any, *, max_rows: int = 256) -> Verdict:
    """Compare O and LSE with the oracle, by this module's criterion.

    Args:
        problem: What was computed.
        inputs: Q, K and V it was computed from; NumPy or CuPy.
        output: O, shape and dtype of Q.
        lse: float32 (batch, heads, seqlen_q); None: the kernel returns none, and O alone is compared.
        max_rows: Compare at most about this many query rows, those of `sample_rows`, in every head.
    """
    xp = array_module(inputs.q)
    rows = sample_rows(problem, max_rows)
    picked = xp.asarray(rows)
    masks: dict[str, Any] = {
        "causal": problem.causal,
        "window": problem.window,
        "block_mask": problem.block_mask,
    }
    exact, exact_lse = attention_reference(*inputs, **masks, scale=problem.softmax_scale, rows=rows)
    low, low_lse = plain_attention(
        *inputs,
        **masks,
        scale=problem.softmax_scale,
        rows=rows,
        compute_dtype="float32",
        storage_dtype=storage_dtype(problem.dtype),
    )
    scores, drift = _largest_score(problem, inputs), problem.seqlen_k**0.5
    error = _largest_difference(output[:, :, picked], exact)
    bound = _criterion(low, exact, storage_dtype(problem.dtype))
    bound += FLOAT32_EPS * ((1 + scores) * _largest(inputs.v, abs) + drift * _largest_finite(exact))
    passed = error <= bound  # False when the error is NaN
    count = problem.batch * problem.heads * len(rows)
    if lse is None:
        return Verdict(error, bound, None, None, count, passed)
    lse_error = _largest_difference(lse[:, :, picked], exact_lse)
    lse_bound = _criterion(low_lse, exact_lse, "float32")
    lse_bound += FLOAT32_EPS * (_largest_finite(exact_lse) + scores + drift)
    passed = passed and lse_error <= lse_bound
    return Verdict(error, bound, lse_error, lse_bound, count, passed)


def sample_rows(problem: Problem, max_rows: int) -> list[int]:
    """Query rows worth comparing, sorted: all when they are few, else the risky ones and an even spread.

    Risky are the first and last rows, both sides of tile edges near both ends, the rows where causal or a
    window begins or ends to hide keys, and both sides of the block mask's edges near both ends. The same
    problem always yields the same rows.
    """
    count = problem.seqlen_q
    if count <= max_rows:
        return list(range(count))
    edges = [*_tile_edges(count, EDGE), *_band_edges(problem.mask)]
    if problem.block_mask is not None:
        edges += _tile_edges(count, problem.block_mask.block_q)
    risky = {row for edge in edges for row in (edge - 1, edge) if 0 <= row < count}
    spread = max(2, max_rows - len(risky))
    return sorted(risky | {i * (count - 1) // (spread - 1) for i in range(spread)})


def _tile_edges(count: int, block: int) -> list[int]:
    """The first rows of the first tiles and of the last ones, and the end."""
    last_tile = (count - 1) // block * block
    return [0, block, 2 * block, last_tile - block, last_tile, count]


def _band_edges(mask: Mask) -> list[int]:
    """The first rows that see the first and the last key, and the first that no longer see them."""
    last_key = mask.seqlen_k - 1
    return [-mask.highest, last_key - mask.highest, 1 - mask.lowest, last_key + 1 - mask.lowest]


def storage_dtype(dtype: Dtype) -> Any:
    """The array dtype of that name, for NumPy and CuPy; bfloat16 comes from ml_dtypes."""
    if dtype != "bfloat16":
        return dtype
    import ml_dtypes  # noqa: PLC0415 - installed with the CUDA extras only

    return ml_dtypes.bfloat16


def _criterion(low: Any, exact: Any, dtype: Any) -> float:
    """2 max|low - ref| + 2 max|(ref + 0.3 - 0.3) - ref| over finite values of the oracle."""
    xp = array_module(exact)
    finite = xp.where(xp.isfinite(exact), exact, 0)
    shift = xp.asarray(0.3).astype(dtype).astype("float32")
    up = (finite.astype(dtype).astype("float32") + shift).astype(dtype).astype("float32")
    back = (up - shift).astype(dtype)
    return 2 * _largest_difference(low, exact) + 2 * _largest_difference(back, finite)


def _largest_difference(found: Any, exact: Any) -> float:
    """The maximum of |found - exact|; equal infinities differ by 0, NaN anywhere yields NaN."""
    xp = array_module(exact)
    found = found.astype("float64")
    same = found == exact
    return float(abs(xp.where(same, 0, found) - xp.where(same, 0, exact)).max())


def _largest_finite(array: Any) -> float:
    xp = array_module(array)
    return float(abs(xp.where(xp.isfinite(array), array, 0)).max())


def _largest_score(problem: Problem, inputs: Inputs) -> float:
    """An upper bound of |scale q.k| (Cauchy-Schwarz)."""
    largest_q, largest_k = (_largest(array, _norms) for array in (inputs.q, inputs.k))
    return abs(problem.softmax_scale) * largest_q * largest_k


def _norms(rows: Any) -> Any:
    return (rows * rows).sum(axis=-1) ** 0.5


def _largest(array: Any, measure: Callable[[Any], Any]) -> float:
    """The maximum of a measure of (batch, heads, ...), taken head by head to need little memory."""
    return max(float(measure(head.astype("float32")).max()) for sequence in array for head in sequence)
