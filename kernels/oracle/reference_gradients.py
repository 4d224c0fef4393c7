"""The gradients of plain attention, row by row of the chain rule: in float64 the oracle.

With S, P and O as in `kernels.oracle.reference` and dO the gradient of some loss with respect to O (Dao 2023,
FlashAttention-2, section 2.3),

    dV = P^T dO,  dP = dO V^T,  dS = P (dP - delta),  delta = rowsum(P dP) = rowsum(dO O),
    dQ = scale dS K,  dK = scale dS^T Q.

A sink adds to the denominators alone: it is a key whose value is 0, and leaves all of this as it stands. So
does a bias, a constant of each pair. A softcap c, which makes c t of S, t = tanh(S / c), multiplies dS by its
slope 1 - t^2.

A pair that the masks hide has P = dS = 0, so a row that keeps no key has dQ = 0, and a key that no row
keeps has dK = dV = 0. With fewer K/V heads than query heads, dK and dV are the sums over the query heads of
the group.

Some rows of dQ follow from K, V and the same rows of Q and dO. Some rows of dK and dV are sums over all query
rows, each of which needs its LSE and its delta, and these are sums over all keys. So `GradientRows` brings O
and LSE of an answer; with P = exp(S - LSE) and delta = rowsum(dO O) the cost of each row is linear in N.
Limit: as slow as it looks; memory is bounded by one head and one chunk of rows.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from flashscope.kernels.oracle.reference import (
    AS_THEY_ARE,
    Masking,
    Pairs,
    Scoring,
    chunk_rows,
    hide,
    rounded,
    weigh,
)
from flashscope.kernels.workload.arrays import array_module
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.tensors import Gradients

GradientArrays = tuple[Any, Any, Any, Any]  # Q, K, V and dO
Gives = Literal["rows", "keys", "all"]


class GradientRows(NamedTuple):
    """Some rows of the gradients, of each head, and what those of dK and dV follow from.

    Attributes:
        rows: Of dQ, sorted.
        keys: Of dK and dV, sorted.
        output: O of all query rows, (batch, heads, Nq, dv), as a forward pass left it.
        lse: LSE of all query rows, (batch, heads, Nq), likewise.
    """

    rows: Sequence[int]
    keys: Sequence[int]
    output: Any
    lse: Any


class Chunk(NamedTuple):
    """What the chain rule passes through for R query rows of one head and K keys.

    Attributes:
        of: What the chunks of a head give: rows of dQ, where K is Nk; dK and dV, where all query rows come
            one chunk after the other; or all of them.
        sequence: Index of the sequence.
        head: Index of the query head.
        rows: Which of the query rows that are computed.
        q: (R, d).
        k: (K, d), of the K/V head that the query head meets; `v` alike.
        v: See `k`.
        grad_output: dO, (R, d).
        p: P, (R, K).
        ds: dS, (R, K), with respect to the scaled scores before a softcap.
        ds_capped: The same with respect to what a softcap makes of them.
        slope: What is between the two, (R, K), 0 to 1; 1 without a softcap.
        output: O, (R, d).
        lse: LSE, (R,).
    """

    of: Gives
    sequence: int
    head: int
    rows: slice
    q: Any
    k: Any
    v: Any
    grad_output: Any
    p: Any
    ds: Any
    ds_capped: Any
    slope: Any
    output: Any
    lse: Any


def gradients_reference(
    q: Any,
    k: Any,
    v: Any,
    grad_output: Any,
    *,
    causal: bool,
    scale: float,
    window: tuple[int, int] | None = None,
    block_mask: BlockMask | None = None,
    scoring: Scoring = AS_THEY_ARE,
) -> Gradients:
    """The float64 oracle.

    Args:
        q: (batch, heads, Nq, d), NumPy or CuPy, any floating dtype.
        k: (batch, kv_heads, Nk, d), same kind; kv_heads divides heads.
        v: Like `k`.
        grad_output: dO, like `q`.
        causal: Keep only keys k <= q + Nk - Nq.
        scale: Factor on the scores.
        window: (left, right) in keys, -1 for an unbounded side; None: no window.
        block_mask: Keep only these blocks; None: all.
        scoring: What else is done to scores.

    Returns:
        dQ, dK and dV as float64, in the shapes of Q, K and V.
    """
    masking = Masking(causal, window, block_mask)
    exactly: dict[str, Any] = {"compute_dtype": "float64", "storage_dtype": "float64"}
    return plain_gradients((q, k, v, grad_output), masking, scale=scale, scoring=scoring, **exactly)


def plain_gradients(
    arrays: GradientArrays,
    masking: Masking,
    *,
    scale: float,
    scoring: Scoring = AS_THEY_ARE,
    compute_dtype: Any,
    storage_dtype: Any,
    drawn: GradientRows | None = None,
    also: Callable[[Chunk], None] | None = None,
) -> Gradients:
    """The gradients with S, P, dP, dS and themselves rounded to `storage_dtype`, computed in `compute_dtype`.

    `arrays` are Q, K, V and dO as in `gradients_reference`; the results have `compute_dtype`, and all rows of
    each head or those that are drawn. `also` is called with every chunk on the way.
    """
    xp, group = array_module(arrays[0]), arrays[0].shape[1] // arrays[1].shape[1]
    dq, dk, dv = (xp.zeros(shape, compute_dtype) for shape in gradient_shapes(arrays, drawn))
    chain = ChainRule(arrays, masking, scale, scoring, compute_dtype, storage_dtype)
    for one in chain.chunks(drawn):
        b, h, factor = one.sequence, one.head, one.ds.dtype.type(scale)
        if one.of != "keys":
            dq[b, h, one.rows] = one.ds @ one.k * factor
        if one.of != "rows":
            dk[b, h // group] += one.ds.T @ one.q * factor
            dv[b, h // group] += one.p.T @ one.grad_output
        if also is not None:
            also(one)
    return Gradients(*(rounded(x, storage_dtype) for x in (dq, dk, dv)))


def gradient_shapes(arrays: GradientArrays, drawn: GradientRows | None) -> list[tuple[int, ...]]:
    """The shapes of dQ, dK and dV, of all their rows or of those that are drawn."""
    qkv = arrays[:3]
    if drawn is None:
        return [x.shape for x in qkv]
    counts = len(drawn.rows), len(drawn.keys), len(drawn.keys)
    return [(*x.shape[:2], count, x.shape[3]) for x, count in zip(qkv, counts, strict=True)]


class ChainRule(NamedTuple):
    """How the chain rule is passed through; its fields are the arguments of `plain_gradients`."""

    arrays: GradientArrays
    masking: Masking
    scale: float
    scoring: Scoring
    compute_dtype: Any
    storage_dtype: Any

    def chunks(self, drawn: GradientRows | None) -> Iterator[Chunk]:
        """P, dS and what they are made of, some query rows at a time, one head after the other."""
        xp, (q, k, *_) = array_module(self.arrays[0]), self.arrays
        rows, keys, shift = xp.arange(q.shape[2]), xp.arange(k.shape[2]), k.shape[2] - q.shape[2]
        for head in np.ndindex(*q.shape[:2]):
            if drawn is None:
                yield from self._of_head("all", head, Pairs(rows, keys, shift), None)
            else:
                yield from self._of_head("rows", head, Pairs(xp.asarray(drawn.rows), keys, shift), None)
                yield from self._of_head("keys", head, Pairs(rows, xp.asarray(drawn.keys), shift), drawn)

    def _of_head(
        self, of: Gives, head: tuple[int, ...], pairs: Pairs, answer: GradientRows | None
    ) -> Iterator[Chunk]:
        """The chunks of some pairs of a head; without an answer these are all that the rows have."""
        (b, h), (q, k, v, grad_output), dtype = head, self.arrays, self.compute_dtype
        xp, kv_head = array_module(q), h // (q.shape[1] // k.shape[1])
        keys, values = (array[b, kv_head][pairs.keys].astype(dtype) for array in (k, v))
        step = chunk_rows(xp.empty(0, dtype), len(keys))
        for start in range(0, len(pairs.rows), step):
            part = slice(start, min(start + step, len(pairs.rows)))
            rows = pairs.rows[part]
            queries, grad = (array[b, h][rows].astype(dtype) for array in (q, grad_output))
            s, slope = self._scores(queries, keys, h, pairs._replace(rows=rows))
            dp = rounded(grad @ values.T, self.storage_dtype)
            if answer is None:
                output, lse, p = weigh(s, values, self.storage_dtype, None, self.scoring.sink(h))
                delta = (p * dp).sum(axis=1, keepdims=True)
            else:
                output, lse = (array[b, h][rows].astype(dtype) for array in (answer.output, answer.lse))
                p = rounded(_weights(s, lse), self.storage_dtype)
                delta = (grad * output).sum(axis=1, keepdims=True)
            capped = p * (dp - delta)
            ds = rounded(capped * slope, self.storage_dtype)
            yield Chunk(of, b, h, part, queries, keys, values, grad, p, ds, capped, slope, output, lse)

    def _scores(self, q: Any, k: Any, head: int, pairs: Pairs) -> tuple[Any, Any]:
        """S of some pairs of a head, -inf where hidden, and how fast it changes with scaled scores."""
        s = rounded(q @ k.T * q.dtype.type(self.scale), self.storage_dtype)
        s = self.scoring.capped(s, self.storage_dtype)
        slope = self.scoring.slope(s)
        s = self.scoring.biased(s, self.storage_dtype, head, pairs)
        hide(s, pairs, self.masking)
        return s, slope


def _weights(s: Any, lse: Any) -> Any:
    """exp(S - LSE), 0 in a row that keeps no key."""
    xp = array_module(s)
    return xp.exp(s - xp.where(xp.isneginf(lse), 0, lse)[:, None])
