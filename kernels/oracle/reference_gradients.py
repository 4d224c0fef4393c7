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
Limit: as slow as it looks; memory is bounded by one head and one chunk of rows.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from flashscope.kernels.oracle.reference import (
    AS_THEY_ARE,
    Masking,
    Scoring,
    chunk_rows,
    hide,
    rounded,
    weigh,
)
from flashscope.kernels.workload.arrays import array_module
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.tensors import Gradients


class Chunk(NamedTuple):
    """What the chain rule passes through for R query rows of one head, Nk keys wide.

    Attributes:
        sequence: Index of the sequence.
        head: Index of the query head.
        rows: Which of its query rows.
        q: (R, d).
        k: (Nk, d), of the K/V head that the query head meets; `v` alike.
        v: See `k`.
        grad_output: dO, (R, d).
        p: P, (R, Nk).
        ds: dS, (R, Nk), with respect to the scaled scores before a softcap.
        ds_capped: The same with respect to what a softcap makes of them.
        slope: What is between the two, (R, Nk), 0 to 1; 1 without a softcap.
        output: O, (R, d).
        lse: LSE, (R,).
    """

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
    arrays: tuple[Any, Any, Any, Any],
    masking: Masking,
    *,
    scale: float,
    scoring: Scoring = AS_THEY_ARE,
    compute_dtype: Any,
    storage_dtype: Any,
    also: Callable[[Chunk], None] | None = None,
) -> Gradients:
    """The gradients with S, P, dP, dS and themselves rounded to `storage_dtype`, computed in `compute_dtype`.

    `arrays` are Q, K, V and dO as in `gradients_reference`; the results have `compute_dtype`. `also` is
    called with every chunk on the way.
    """
    q, k, v, _ = arrays
    xp, group = array_module(q), q.shape[1] // k.shape[1]
    dq, dk, dv = (xp.zeros(x.shape, compute_dtype) for x in (q, k, v))
    dtypes: dict[str, Any] = {"compute_dtype": compute_dtype, "storage_dtype": storage_dtype}
    for one in chunks(arrays, masking, scale=scale, scoring=scoring, **dtypes):
        b, h, factor = one.sequence, one.head, one.ds.dtype.type(scale)
        dq[b, h, one.rows] = one.ds @ one.k * factor
        dk[b, h // group] += one.ds.T @ one.q * factor
        dv[b, h // group] += one.p.T @ one.grad_output
        if also is not None:
            also(one)
    return Gradients(*(rounded(x, storage_dtype) for x in (dq, dk, dv)))


def chunks(
    arrays: tuple[Any, Any, Any, Any],
    masking: Masking,
    *,
    scale: float,
    scoring: Scoring,
    compute_dtype: Any,
    storage_dtype: Any,
) -> Iterator[Chunk]:
    """P, dS and what they are made of, some query rows at a time; arguments as in `plain_gradients`."""
    q, k, v, grad_output = arrays
    xp, group = array_module(q), q.shape[1] // k.shape[1]
    batch, heads, seqlen_q, _ = q.shape
    step = chunk_rows(xp.empty(0, compute_dtype), k.shape[2])
    for b in range(batch):
        for h in range(heads):
            keys, values = (array[b, h // group].astype(compute_dtype) for array in (k, v))
            for start in range(0, seqlen_q, step):
                rows = slice(start, min(start + step, seqlen_q))
                queries, grad = (array[b, h, rows].astype(compute_dtype) for array in (q, grad_output))
                s = rounded(queries @ keys.T * queries.dtype.type(scale), storage_dtype)
                s = scoring.capped(s, storage_dtype)
                slope, picked = scoring.slope(s), xp.arange(rows.start, rows.stop)
                s = scoring.biased(s, storage_dtype, h, picked, seqlen_q)
                hide(s, picked, seqlen_q, masking)
                output, lse, p = weigh(s, values, storage_dtype, None, scoring.sink(h))
                dp = rounded(grad @ values.T, storage_dtype)
                delta = (p * dp).sum(axis=1, keepdims=True)
                capped = p * (dp - delta)
                ds = rounded(capped * slope, storage_dtype)
                yield Chunk(b, h, rows, queries, keys, values, grad, p, ds, capped, slope, output, lse)
