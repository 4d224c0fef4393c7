"""Plain attention, row by row of the definition: in float64 it is the oracle every kernel is compared with.

    S = scale * Q K^T,  LSE = ln sum exp(S),  O = exp(S - LSE) V        (Vaswani et al. 2017, equation 1)

Causal keeps key k for query q where k <= q + Nk - Nq. A row that keeps no key has O = 0 and LSE = -inf.
Limit: as slow as it looks; memory is bounded by one head of K and V and one chunk of rows.
"""

from collections.abc import Sequence
from typing import Any

from kernels.arrays import array_module

CHUNK_BYTES = 16 * 2**20  # scores of one chunk of rows; a handful of arrays of this size live at once


def attention_reference(
    q: Any, k: Any, v: Any, *, causal: bool, scale: float, rows: Sequence[int] | None = None
) -> tuple[Any, Any]:
    """The float64 oracle.

    Args:
        q: (batch, heads, Nq, d), NumPy or CuPy, any floating dtype.
        k: (batch, heads, Nk, d), same kind.
        v: (batch, heads, Nk, dv), same kind.
        causal: Keep only keys k <= q + Nk - Nq.
        scale: Factor on the scores.
        rows: Query rows to compute, in every head; None: all of them.

    Returns:
        O as float64 (batch, heads, R, dv) and LSE (natural log) as float64 (batch, heads, R); R rows.
    """
    return plain_attention(
        q, k, v, causal=causal, scale=scale, rows=rows, compute_dtype="float64", storage_dtype="float64"
    )


def plain_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool,
    scale: float,
    rows: Sequence[int] | None,
    compute_dtype: Any,
    storage_dtype: Any,
) -> tuple[Any, Any]:
    """Attention with S, P and O rounded to `storage_dtype`, computed in `compute_dtype`.

    Arguments and shapes as in `attention_reference`; the results have `compute_dtype`.
    """
    xp = array_module(q)
    batch, heads, seqlen_q, _ = q.shape
    seqlen_k = k.shape[2]
    picked = xp.arange(seqlen_q) if rows is None else xp.asarray(rows)
    output = xp.empty((batch, heads, len(picked), v.shape[3]), dtype=compute_dtype)
    lse = xp.empty((batch, heads, len(picked)), dtype=compute_dtype)
    chunk = max(1, CHUNK_BYTES // (seqlen_k * output.itemsize))
    for b in range(batch):
        for h in range(heads):
            keys, values = k[b, h].astype(compute_dtype), v[b, h].astype(compute_dtype)
            for start in range(0, len(picked), chunk):
                part = slice(start, start + chunk)
                queries = q[b, h][picked[part]].astype(compute_dtype)
                limit = picked[part] + (seqlen_k - seqlen_q) if causal else None
                scores = _scores(queries, keys, scale, limit, storage_dtype)
                output[b, h, part], lse[b, h, part] = _weigh(scores, values, storage_dtype)
    return output, lse


def _scores(q: Any, k: Any, scale: float, limit: Any, storage_dtype: Any) -> Any:
    """Scaled scores (R, Nk) of some rows, -inf beyond each row's last visible key."""
    xp = array_module(q)
    s = _rounded(q @ k.T * q.dtype.type(scale), storage_dtype)
    if limit is not None:
        s[xp.arange(len(k))[None, :] > limit[:, None]] = -xp.inf
    return s


def _weigh(s: Any, v: Any, storage_dtype: Any) -> tuple[Any, Any]:
    """Softmax over the last axis of S and its product with V: O (R, dv) and LSE (R,)."""
    xp = array_module(s)
    m = s.max(axis=1, keepdims=True)
    m[xp.isneginf(m)] = 0  # a row without keys: exp(-inf - 0) = 0 where -inf - -inf would be NaN
    p = xp.exp(s - m)
    l = p.sum(axis=1, keepdims=True)
    empty = l == 0
    l[empty] = 1
    lse = m + xp.log(l)
    lse[empty] = -xp.inf
    return _rounded(_rounded(p / l, storage_dtype) @ v, storage_dtype), lse[:, 0]


def _rounded(array: Any, storage_dtype: Any) -> Any:
    """The values the array would have after a round trip through `storage_dtype`."""
    return array.astype(storage_dtype, copy=False).astype(array.dtype, copy=False)
