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

A kernel in 8 bits (`KernelSpec.rounding`) rounds its inputs first; then `low` is attention on what
`kernels.fp8` makes of them, with S and P rounded as there and all else in float32. It bounds two errors.
Against the oracle on the inputs as given: what 8 bits cost. Against the oracle on the inputs as rounded: what
the kernel adds, which is less, so that a wrong index or a lost tile hides less. There P leads: its rounding
errors are at most 2^-4 of each p (e4m3 has 3 bits of mantissa), so that

    |O - ref| <= 2^-4 sum p |v| / sum p,  and about 2^-4 / sqrt(3) sqrt(sum (p v)^2) / sum p where they are
                                          independent and uniform;

`low` draws its own from the same distribution, one for every element of O, hence its factor of 2. What `low`
has not are the tensor core's own sums, for which `Rounding` states errors: of PV relative to the largest |O|,
of QK^T relative to |q||k|.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from kernels.arrays import array_module
from kernels.fp8 import Rounding
from kernels.launch import Inputs
from kernels.mask import Mask
from kernels.problem import Problem
from kernels.reference import attention_reference, plain_attention
from kernels.spec import BufferDtype

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
        rounded_error: max |O - oracle on the inputs as the kernel rounds them|; None: it takes them as they
            are. The errors above are against the oracle on the inputs as given.
        rounded_bound: The largest such error that passes; None as above.
    """

    max_abs_error: float
    bound: float
    lse_error: float | None
    lse_bound: float | None
    rows: int
    passed: bool
    rounded_error: float | None = None
    rounded_bound: float | None = None


class Found(NamedTuple):
    """O (batch, heads, R, d) and LSE (batch, heads, R) of some rows; a kernel's LSE may be None."""

    output: Any
    lse: Any


class Judged(NamedTuple):
    """Errors of O and LSE with their bounds, as in `Verdict`."""

    error: float
    bound: float
    lse_error: float | None
    lse_bound: float | None

    @property
    def passed(self) -> bool:
        """Both errors pass; False where one is NaN."""
        if self.lse_error is None or self.lse_bound is None:
            return self.error <= self.bound
        return self.error <= self.bound and self.lse_error <= self.lse_bound


def verify(
    problem: Problem,
    inputs: Inputs,
    output: Any,
    lse: Any,
    *,
    rounding: Rounding | None = None,
    max_rows: int = 256,
) -> Verdict:
    """Compare O and LSE with the oracle, by this module's criterion.

    Args:
        problem: What was computed.
        inputs: Q, K and V it was computed from; NumPy or CuPy.
        output: O, shape and dtype of Q.
        lse: float32 (batch, heads, seqlen_q); None: the kernel returns none, and O alone is compared.
        rounding: How a kernel in 8 bits rounds its inputs; None: it takes them as they are.
        max_rows: Compare at most about this many query rows, those of `sample_rows`, in every head.
    """
    rows = sample_rows(problem, max_rows)
    picked = array_module(inputs.q).asarray(rows)
    found = Found(output[:, :, picked], None if lse is None else lse[:, :, picked])
    count = problem.batch * problem.heads * len(rows)
    options: dict[str, Any] = {
        "causal": problem.causal,
        "window": problem.window,
        "block_mask": problem.block_mask,
        "scale": problem.softmax_scale,
        "rows": rows,
    }
    exact = Found(*attention_reference(*inputs, **options))
    if rounding is None:
        storage = storage_dtype(problem.dtype)
        low = plain_attention(*inputs, **options, compute_dtype="float32", storage_dtype=storage)
        judged = _judge(problem, inputs, found, exact, Found(*low))
        return Verdict(*judged, count, judged.passed)
    rounded = rounding.inputs(*inputs)
    options["scale"] *= rounding.score_factor(problem.head_dim)
    low = plain_attention(
        *rounded, **options, compute_dtype="float32", storage_dtype="float32", rounding=rounding
    )
    given, own = (
        _judge(problem, inputs, found, oracle, Found(*low), rounding=rounding)
        for oracle in (exact, Found(*attention_reference(*rounded, **options)))
    )
    return Verdict(*given, count, given.passed and own.passed, own.error, own.bound)


def _judge(
    problem: Problem,
    inputs: Inputs,
    found: Found,
    exact: Found,
    low: Found,
    *,
    rounding: Rounding | None = None,
) -> Judged:
    """The errors of what was found, and the bounds that `low` and the sums' own errors set them."""
    scores, drift = _largest_score(problem, inputs), problem.seqlen_k**0.5
    bound = _criterion(low.output, exact.output, storage_dtype(problem.dtype))
    bound += FLOAT32_EPS * ((1 + scores) * _largest(inputs.v, abs) + drift * _largest_finite(exact.output))
    if rounding is not None:
        bound += rounding.product_error(rounding.key_block) * _largest_finite(exact.output)
    error = _largest_difference(found.output, exact.output)
    if found.lse is None:
        return Judged(error, bound, None, None)
    lse_bound = _criterion(low.lse, exact.lse, "float32")
    lse_bound += FLOAT32_EPS * (_largest_finite(exact.lse) + scores + drift)
    if rounding is not None:
        lse_bound += rounding.score_error(problem.head_dim) * scores
    return Judged(error, bound, _largest_difference(found.lse, exact.lse), lse_bound)


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


def storage_dtype(dtype: BufferDtype) -> Any:
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
