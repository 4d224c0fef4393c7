"""The forward pass of attention in Triton's language: what `kernels.library.triton_flash` launches.

A program owns one tile of queries of one head and walks the keys in blocks with the online softmax: first
those that no mask cuts, then the others. Q, K and V come through tensor descriptors, which give zeros behind
their ends.
"""

import triton
import triton.language as tl


@triton.jit
def walk(
    state, q, keys, values, kv_head, first, last, row_ends, seqlen_k, scale, masked: tl.constexpr,
    causal: tl.constexpr, block_k: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Let a tile of queries attend to the keys from first to last, in blocks."""
    m, l, o = state
    for start in tl.range(first, last, block_k):
        k = keys.load([kv_head, start, 0]).reshape(block_k, width)
        s = tl.dot(q, k.T)
        if masked:
            columns = start + tl.arange(0, block_k)
            kept = columns[None, :] < seqlen_k
            if causal:
                kept = kept & (columns[None, :] < row_ends[:, None])
            s = tl.where(kept, s, float("-inf"))
        grown = tl.maximum(m, tl.max(s, 1) * scale)
        base = tl.where(grown == float("-inf"), 0.0, grown) if masked else grown
        p = tl.exp2(s * scale - base[:, None])
        alpha = tl.exp2(m - base)
        l = l * alpha + tl.sum(p, 1)
        v = values.load([kv_head, start, 0]).reshape(block_k, width)
        o = tl.dot(p.to(v.dtype), v, o * alpha[:, None])
        m = grown
    return m, l, o


@triton.jit
def forward(
    queries, keys, values, output, lse, seqlen_q, seqlen_k, scale, head_dim, sign: tl.constexpr,
    group: tl.constexpr, causal: tl.constexpr, width: tl.constexpr, block_q: tl.constexpr,
    block_k: tl.constexpr,
):  # fmt: skip
    """Attend with one tile of queries of one head; under a causal mask the longest tiles come first."""
    tile = tl.num_programs(0) - 1 - tl.program_id(0) if causal else tl.program_id(0)
    head = tl.program_id(1)
    begin = tile * block_q
    rows = begin + tl.arange(0, block_q)
    shift = seqlen_k - seqlen_q
    q = queries.load([head, begin, 0]).reshape(block_q, width)
    if sign != 1:  # else Q stays in shared memory, where it came to
        q = (q * sign).to(q.dtype)
    m = tl.full([block_q], float("-inf"), tl.float32)
    state = m, tl.zeros([block_q], tl.float32), tl.zeros([block_q, width], tl.float32)
    ends, whole = seqlen_k, seqlen_k // block_k * block_k
    if causal:
        ends = tl.maximum(tl.minimum(seqlen_k, tl.minimum(begin + block_q, seqlen_q) + shift), 0)
        whole = tl.minimum(whole, tl.maximum(begin + shift + 1, 0) // block_k * block_k)
    row_ends = rows + shift + 1
    kv_head = head // group
    state = walk(
        state, q, keys, values, kv_head, 0, whole, row_ends, seqlen_k, scale, False, causal, block_k, width
    )
    m, l, o = walk(
        state, q, keys, values, kv_head, whole, ends, row_ends, seqlen_k, scale, True, causal, block_k, width
    )
    o = o / tl.where(l == 0, 1.0, l)[:, None]
    columns = tl.arange(0, width)
    place = (head.to(tl.int64) * seqlen_q + rows)[:, None] * head_dim + columns[None, :]
    inside = rows < seqlen_q
    tl.store(output + place, o.to(output.dtype.element_ty), inside[:, None] & (columns[None, :] < head_dim))
    told = (m + tl.log2(l)) * 0.6931471805599453
    tl.store(lse + head.to(tl.int64) * seqlen_q + rows, tl.where(l == 0, float("-inf"), told), inside)
