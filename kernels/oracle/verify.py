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

NaN never passes, and LSE must be exactly -inf where a row keeps no key. Every row is judged by itself, too:
see `kernels.oracle.row_bounds`.

A kernel in 8 bits (`KernelSpec.rounding`) rounds its inputs first; then `low` is attention on what
`kernels.catalogue.fp8` makes of them, with S and P rounded as there and all else in float32. It bounds
two errors. Against the oracle on the inputs as given: what 8 bits cost. Against the oracle on the inputs as
rounded: what the kernel adds, which is less, so that a wrong index or a lost tile hides less. There P leads:
its rounding errors are at most 2^-4 of each p (e4m3 has 3 bits of mantissa), so that

    |O - ref| <= 2^-4 sum p |v| / sum p,  and about 2^-4 / sqrt(3) sqrt(sum (p v)^2) / sum p where they are
                                          independent and uniform;

`low` draws its own from the same distribution, one for every element of O, hence its factor of 2. What `low`
has not are the tensor core's own sums, for which `Rounding` states errors: of PV relative to the largest |O|,
of QK^T relative to |q||k|.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from flashscope.kernels.catalogue.buffers import BufferDtype
from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.oracle.reference import Attended, Scoring, plain_attention
from flashscope.kernels.oracle.row_bounds import (
    FLOAT32_EPS,
    RowBounds,
    WorstRow,
    biased_scores,
    norms_of,
    row_bounds,
)
from flashscope.kernels.oracle.verdict import OF_A_PART, OF_A_ROW, ON_ROUNDED, Deviation, Judging, Verdict
from flashscope.kernels.oracle.verify_batch import BatchCriterion, sequence_inputs
from flashscope.kernels.workload.arrays import array_module, on_host
from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

EDGE = 64  # every kernel's tile sizes divide or are divided by this


class OutputRows(NamedTuple):
    """O (batch, heads, R, d) and LSE (batch, heads, R) of some rows; a kernel's LSE may be None."""

    output: Any
    lse: Any


class Oracle(NamedTuple):
    """What an answer is compared with, in host memory, and the errors that pass.

    Attributes:
        exact: O and LSE of the rows compared, float64.
        bound: The largest error of O that passes.
        lse_bound: The largest error of LSE that passes.
        by_row: The errors of each row that pass; None: they are not judged against this oracle.
    """

    exact: OutputRows
    bound: float
    lse_bound: float
    by_row: RowBounds | None

    def errors(self, found: OutputRows, rows: list[int]) -> tuple[Deviation, ...]:
        """The errors of O and, where there is one, of LSE; `rows` are the query rows compared."""
        return *self._largest(found), *self._of_rows(found, rows)

    def _largest(self, found: OutputRows) -> Iterator[Deviation]:
        yield Deviation("O", largest_difference(found.output, self.exact.output), self.bound)
        if found.lse is not None:
            yield Deviation("LSE", largest_difference(found.lse, self.exact.lse), self.lse_bound)

    def _of_rows(self, found: OutputRows, rows: list[int]) -> Iterator[Deviation]:
        by_row = self.by_row
        if by_row is None:
            return
        errors = norms_of(found.output - self.exact.output)
        yield deviation("O" + OF_A_ROW, by_row.worst_row(errors), rows)
        if found.lse is not None:
            yield deviation("LSE" + OF_A_ROW, by_row.worst_lse(found.lse, self.exact.lse), rows)
        if by_row.expected is not None:
            yield deviation("O" + OF_A_PART, by_row.worst_part(errors), rows)


class Criterion(NamedTuple):
    """All that answers to a problem are judged by; the same for every kernel that rounds its inputs alike.

    Attributes:
        rows: The query rows compared in every head.
        given: The oracle on the inputs as given.
        rounded: The oracle on the inputs as rounded to 8 bits; None where they are not.
    """

    rows: list[int]
    given: Oracle
    rounded: Oracle | None

    def judge(self, output: Any, lse: Any) -> Verdict:
        """Compare O and LSE with the oracle.

        Args:
            output: O, shape and dtype of Q; NumPy or CuPy.
            lse: float32 (batch, heads, seqlen_q); None: the kernel returns none, and O alone is compared.
        """
        picked = array_module(output).asarray(self.rows)
        found = OutputRows(*(None if x is None else on_host(x[:, :, picked]) for x in (output, lse)))
        outputs = self.given.errors(found, self.rows)
        if self.rounded is not None:
            own = self.rounded.errors(found, self.rows)
            outputs += tuple(one._replace(output=one.output + ON_ROUNDED) for one in own)
        return Verdict(outputs, output.shape[0] * output.shape[1] * len(self.rows))


def verify(
    problem: Problem,
    inputs: Inputs,
    output: Any,
    lse: Any,
    *,
    rounding: Rounding | None = None,
    max_rows: int = 256,
) -> Verdict:
    """Compare O and LSE with the oracle, by this module's criterion; see `criterion` and its `judge`."""
    return criterion(problem, inputs, rounding=rounding, max_rows=max_rows).judge(output, lse)


def criterion(
    problem: Problem,
    inputs: Inputs,
    *,
    rounding: Rounding | None = None,
    max_rows: int = 256,
    rows: Sequence[int] | None = None,
) -> Judging:
    """Compute the oracle of a problem, and the errors that pass; of a batch that is not even, by sequence.

    Args:
        problem: What is computed.
        inputs: Q, K and V it is computed from; NumPy or CuPy.
        rounding: How a kernel in 8 bits rounds its inputs; None: it takes them as they are.
        max_rows: Compare at most about this many query rows, those of `sample_rows`, in every head.
        rows: The query rows to compare instead, sorted; of a batch that is even.
    """
    if not problem.even:
        own = {
            b: _criterion(
                one, sequence_inputs(problem, inputs, b), rounding=rounding, rows=sample_rows(one, max_rows)
            )
            for b, one in problem.sequences.items()
        }
        return BatchCriterion(problem, own)
    compared = sample_rows(problem, max_rows) if rows is None else list(rows)
    return _criterion(problem, inputs, rounding=rounding, rows=compared)


def _criterion(problem: Problem, inputs: Inputs, *, rounding: Rounding | None, rows: list[int]) -> Criterion:
    """The same of a batch that is even."""
    options: dict[str, Any] = {
        "causal": problem.causal,
        "window": problem.window,
        "block_mask": problem.block_mask,
        "scale": problem.softmax_scale,
        "rows": rows,
        "scoring": Scoring.of(problem, inputs),
    }
    low_as = partial(plain_attention, compute_dtype="float32")
    exact_as = partial(plain_attention, compute_dtype="float64", storage_dtype="float64", spreads=True)
    exact = exact_as(*inputs.qkv, **options)
    if rounding is None:
        low = low_as(*inputs.qkv, **options, storage_dtype=storage_dtype(problem.dtype))
        by_row = row_bounds(problem, inputs, rows, exact, low)
        return Criterion(rows, _oracle(problem, inputs, exact, low, by_row=by_row), None)
    rounded = rounding.inputs(*inputs.qkv)
    options["scale"] *= rounding.score_factor(problem.head_dim)
    low = low_as(*rounded, **options, storage_dtype="float32", rounding=rounding)
    of_rounded = exact_as(*rounded, **options)
    by_row = row_bounds(problem, inputs, rows, of_rounded, low, rounding=rounding)
    given = _oracle(problem, inputs, exact, low, by_row=None, rounding=rounding)
    return Criterion(rows, given, _oracle(problem, inputs, of_rounded, low, by_row=by_row, rounding=rounding))


def _oracle(
    problem: Problem,
    inputs: Inputs,
    exact: Attended,
    low: Attended,
    *,
    by_row: RowBounds | None,
    rounding: Rounding | None = None,
) -> Oracle:
    """The oracle with the bounds that `low` and the sums' own errors set."""
    scores, drift = _largest_score(problem, inputs), problem.seqlen_k**0.5
    if problem.alibi:
        scores += biased_scores(_largest_finite(exact.lse), problem.seqlen_k)
    largest = _largest_finite(exact.output)
    bound = rounding_bound(low.output, exact.output, storage_dtype(problem.dtype))
    bound += FLOAT32_EPS * ((1 + scores) * _largest(inputs.v, abs) + drift * largest)
    lse_bound = rounding_bound(low.lse, exact.lse, "float32")
    lse_bound += FLOAT32_EPS * (_largest_finite(exact.lse) + scores + drift)
    if rounding is not None:
        bound += rounding.product_error(rounding.key_block) * largest
        lse_bound += rounding.score_error(problem.head_dim) * scores
    return Oracle(OutputRows(on_host(exact.output), on_host(exact.lse)), bound, lse_bound, by_row)


def deviation(output: str, worst: WorstRow, rows: Sequence[int]) -> Deviation:
    """The worst of an output's rows, named by its query row instead of its place among those compared."""
    if worst.place is None:
        return Deviation(output, worst.error, worst.bound)
    sequence, head, place = worst.place
    return Deviation(output, worst.error, worst.bound, (sequence, head, rows[place]))


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


def rounding_bound(low: Any, exact: Any, dtype: Any) -> float:
    """2 max|low - ref| + 2 max|(ref + 0.3 - 0.3) - ref| over finite values of the oracle."""
    xp = array_module(exact)
    finite = xp.where(xp.isfinite(exact), exact, 0)
    shift = xp.asarray(0.3).astype(dtype).astype("float32")
    up = (finite.astype(dtype).astype("float32") + shift).astype(dtype).astype("float32")
    back = (up - shift).astype(dtype)
    return 2 * largest_difference(low, exact) + 2 * largest_difference(back, finite)


def largest_difference(found: Any, exact: Any) -> float:
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
    largest_q, largest_k = (_largest(array, norms_of) for array in (inputs.q, inputs.k))
    return abs(problem.softmax_scale) * largest_q * largest_k


def _largest(array: Any, measure: Callable[[Any], Any]) -> float:
    """The maximum of a measure of (batch, heads, ...), taken head by head to need little memory."""
    return max(float(measure(head.astype("float32")).max()) for sequence in array for head in sequence)
