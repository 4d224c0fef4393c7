"""Plain attention, row by row of the definition: in float64 it is the oracle every kernel is compared with.

    S = scale * Q K^T,  LSE = ln sum exp(S),  O = exp(S - LSE) V        (Vaswani et al. 2017, equation 1)

A softcap c makes c tanh(S / c) of S before the masks (Gemma 2; Gemma Team 2024, section 2). A sink x of a
query head adds exp(x) to the denominators of its rows, LSE = ln(exp(x) + sum exp(S)) (gpt-oss), so that a row
that keeps no key has O = 0 and LSE = x. ALiBi adds slope (k - q - D) behind a softcap (Press et al. 2022).

With D = Nk - Nq, causal keeps key k for query q where k <= q + D; a window (left, right) where
q + D - left <= k <= q + D + right, -1 being unbounded; a block mask where the pair's block is kept. A pair
must pass all three. A row that keeps no key has O = 0 and LSE = -inf. With fewer K/V heads than query heads,
query head h meets K/V head h // (heads / kv_heads).
Limit: as slow as it looks; memory is bounded by one head of K and V and one chunk of rows.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.workload.arrays import array_module, backend_of
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.scoring import alibi_slopes
from flashscope.kernels.workload.tensors import Inputs

CHUNK_BYTES = 16 * 2**20  # scores of one chunk of rows; a handful of arrays of this size live at once
GPU_CHUNKS = 4  # as many times that at once on a GPU: smaller ones take as long to launch


class Attended(NamedTuple):
    """What plain attention makes of R query rows; the spreads are None unless asked for.

    Attributes:
        output: O, (batch, heads, R, dv).
        lse: LSE, (batch, heads, R).
        value_spread: sqrt(sum (p |v|)^2), (batch, heads, R): times u, the L2 norm that O's error has when
            every weight p is off by a factor of 1 +- u, one independent of the other.
        score_spread: sqrt(sum (p s)^2), (batch, heads, R): the same of LSE when every score s is.
    """

    output: Any
    lse: Any
    value_spread: Any = None
    score_spread: Any = None


class Masking(NamedTuple):
    """Options that hide pairs, as `Problem` has them."""

    causal: bool
    window: tuple[int, int] | None
    block_mask: BlockMask | None


class Pairs(NamedTuple):
    """Which query rows and keys some scores (R, K) are of.

    Attributes:
        rows: (R,), NumPy or CuPy.
        keys: (K,), likewise.
        shift: Nk - Nq.
    """

    rows: Any
    keys: Any
    shift: int

    @property
    def diagonal(self) -> Any:
        """The last key that causal keeps for each row, (R, 1)."""
        return (self.rows + self.shift)[:, None]


class Scoring(NamedTuple):
    """What is done to scores besides their scale and masks, as `Problem` has it.

    Attributes:
        softcap: Their bound; None: there is none.
        sinks: (heads,), NumPy or CuPy; None: there are none.
        slopes: ALiBi's, of each head; None: there is no bias.
    """

    softcap: float | None = None
    sinks: Any = None
    slopes: Sequence[float] | None = None

    @classmethod
    def of(cls, problem: Problem, inputs: Inputs) -> "Scoring":
        """That of a problem, with the arrays it takes among its inputs.

        Raises:
            ValueError: The problem has sinks and its inputs have none, or the other way round.
        """
        if problem.sinks != (inputs.sinks is not None):
            raise ValueError("sinks are given where a problem has them, and only there")
        return cls(problem.softcap, inputs.sinks, alibi_slopes(problem.heads) if problem.alibi else None)

    def sink(self, head: int) -> float:
        """The sink of a query head; -inf without one, which adds nothing."""
        return -math.inf if self.sinks is None else float(self.sinks[head])

    def capped(self, s: Any, storage_dtype: Any) -> Any:
        """Scaled scores (R, Nk) as a softcap makes them, rounded to `storage_dtype`."""
        if self.softcap is None:
            return s
        xp, cap = array_module(s), s.dtype.type(self.softcap)
        return rounded(xp.tanh(s / cap) * cap, storage_dtype)

    def slope(self, s: Any) -> Any:
        """How fast scores (R, Nk) change with what they were before `capped`, 0 to 1; 1 without a softcap."""
        if self.softcap is None:
            return 1
        share = array_module(s).clip(s / s.dtype.type(self.softcap), -1, 1)  # rounding may exceed 1
        return 1 - share * share

    def biased(self, s: Any, storage_dtype: Any, head: int, pairs: Pairs) -> Any:
        """Scores of some pairs of a head with their bias, rounded to `storage_dtype`."""
        if self.slopes is None:
            return s
        distance = pairs.keys - pairs.diagonal
        return rounded(s + distance.astype(s.dtype) * s.dtype.type(self.slopes[head]), storage_dtype)


AS_THEY_ARE = Scoring()


def attention_reference(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool,
    scale: float,
    window: tuple[int, int] | None = None,
    block_mask: BlockMask | None = None,
    rows: Sequence[int] | None = None,
    scoring: Scoring = AS_THEY_ARE,
) -> tuple[Any, Any]:
    """The float64 oracle.

    Args:
        q: (batch, heads, Nq, d), NumPy or CuPy, any floating dtype.
        k: (batch, kv_heads, Nk, d), same kind; kv_heads divides heads.
        v: (batch, kv_heads, Nk, dv), same kind.
        causal: Keep only keys k <= q + Nk - Nq.
        scale: Factor on the scores.
        window: (left, right) in keys, -1 for an unbounded side; None: no window.
        block_mask: Keep only these blocks; None: all.
        rows: Query rows to compute, in every head; None: all of them.
        scoring: What else is done to scores.

    Returns:
        O as float64 (batch, heads, R, dv) and LSE (natural log) as float64 (batch, heads, R); R rows.
    """
    masking: dict[str, Any] = {"causal": causal, "window": window, "block_mask": block_mask}
    exactly: dict[str, Any] = {"compute_dtype": "float64", "storage_dtype": "float64"}
    attended = plain_attention(q, k, v, **masking, scale=scale, rows=rows, scoring=scoring, **exactly)
    return attended.output, attended.lse


def plain_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool,
    scale: float,
    rows: Sequence[int] | None,
    window: tuple[int, int] | None = None,
    block_mask: BlockMask | None = None,
    scoring: Scoring = AS_THEY_ARE,
    compute_dtype: Any,
    storage_dtype: Any,
    rounding: Rounding | None = None,
    spreads: bool = False,
) -> Attended:
    """Attention with S, P and O rounded to `storage_dtype`, computed in `compute_dtype`.

    Arguments and shapes as in `attention_reference`; the results have `compute_dtype`. In 8 bits `rounding`
    rounds S, and exp(S - max) before it multiplies V but not in its sum. `spreads` asks for those of P, too.
    """
    xp = array_module(q)
    batch, heads, seqlen_q, _ = q.shape
    group, seqlen_k = heads // k.shape[1], k.shape[2]
    picked = xp.arange(seqlen_q) if rows is None else xp.asarray(rows)
    shape = batch, heads, len(picked)
    shapes = [(*shape, v.shape[3]), shape, *([shape, shape] if spreads else [])]
    whole = Attended(*(xp.empty(one, dtype=compute_dtype) for one in shapes))
    chunk, every_key = chunk_rows(whole.output, seqlen_k), xp.arange(seqlen_k)
    masking = Masking(causal, window, block_mask)
    for b in range(batch):
        for h in range(heads):
            keys, values = (array[b, h // group].astype(compute_dtype) for array in (k, v))
            for start in range(0, len(picked), chunk):
                part = slice(start, start + chunk)
                queries = q[b, h][picked[part]].astype(compute_dtype)
                scores = rounded(queries @ keys.T * queries.dtype.type(scale), storage_dtype)
                if rounding is not None:
                    scores = rounding.scores(scores)
                scores = scoring.capped(scores, storage_dtype)
                pairs = Pairs(picked[part], every_key, seqlen_k - seqlen_q)
                scores = scoring.biased(scores, storage_dtype, h, pairs)
                hide(scores, pairs, masking)
                weighed = weigh(scores, values, storage_dtype, rounding, scoring.sink(h))
                whole.output[b, h, part], whole.lse[b, h, part], weights = weighed
                if spreads:
                    whole.value_spread[b, h, part] = _spread(weights, (values * values).sum(axis=1) ** 0.5)
                    whole.score_spread[b, h, part] = _spread(weights, xp.where(weights == 0, 0, scores))
    return whole


def chunk_rows(like: Any, seqlen_k: int) -> int:
    """Query rows of a chunk whose scores have the dtype of an array and lie where it does."""
    at_once, itemsize = CHUNK_BYTES * (1 if backend_of(like) == "cpu" else GPU_CHUNKS), int(like.itemsize)
    return max(1, at_once // (seqlen_k * itemsize))


def hide(s: Any, pairs: Pairs, masking: Masking) -> None:
    """Set the scores of hidden pairs to -inf."""
    xp, keys, diagonal = array_module(s), pairs.keys, pairs.diagonal
    left, right = masking.window or (-1, -1)
    if masking.causal:
        s[keys > diagonal] = -xp.inf
    if left >= 0:
        s[keys < diagonal - left] = -xp.inf
    if right >= 0:
        s[keys > diagonal + right] = -xp.inf
    if masking.block_mask is not None:
        blocks = masking.block_mask
        kept = xp.asarray(blocks.array())
        s[~kept[(pairs.rows // blocks.block_q)[:, None], keys // blocks.block_k]] = -xp.inf


def weigh(
    s: Any, v: Any, storage_dtype: Any, rounding: Rounding | None, sink: float = -math.inf
) -> tuple[Any, Any, Any]:
    """Softmax P over the last axis of S and its product with V: O (R, dv), LSE (R,) and P (R, Nk)."""
    xp = array_module(s)
    m = xp.maximum(s.max(axis=1, keepdims=True), s.dtype.type(sink))
    m[xp.isneginf(m)] = 0  # a row without keys: exp(-inf - 0) = 0 where -inf - -inf would be NaN
    p = xp.exp(s - m)
    l = p.sum(axis=1, keepdims=True) + xp.exp(s.dtype.type(sink) - m)
    empty = l == 0
    l[empty] = 1
    lse = m + xp.log(l)
    lse[empty] = -xp.inf
    if rounding is not None:
        p = rounding.weights(p)
    p = rounded(p / l, storage_dtype)
    return rounded(p @ v, storage_dtype), lse[:, 0], p


def _spread(weights: Any, x: Any) -> Any:
    """sqrt(sum (p x)^2) over the last axis."""
    return ((weights * x) ** 2).sum(axis=1) ** 0.5


def rounded(array: Any, storage_dtype: Any) -> Any:
    """The values the array would have after a round trip through `storage_dtype`."""
    return array.astype(storage_dtype, copy=False).astype(array.dtype, copy=False)
