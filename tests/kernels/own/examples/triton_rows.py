"""A kernel in Triton's language as a kernel of one's own: the function launches it on PyTorch's tensors."""

import torch
import triton
import triton.language as tl

FLASHSCOPE = {
    "idea": "one program a block of rows, keys in tiles, the online softmax between",
    "dtypes": ("float16", "bfloat16"),
    "head_dims": (32, 64, 128),
    "min_compute_capability": (8, 0),
}
ROWS, KEYS = 64, 64


@triton.jit
def forward(
    q,
    k,
    v,
    o,
    lse,
    rows,
    keys,
    scale,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    """A block of rows of one head."""
    block, head = tl.program_id(0), tl.program_id(1)
    i, d = block * M + tl.arange(0, M), tl.arange(0, D)
    at_q, at_k = head.to(tl.int64) * rows * D, head.to(tl.int64) * keys * D
    q_tile = tl.load(q + at_q + i[:, None] * D + d[None, :], mask=i[:, None] < rows, other=0.0)
    m, l = tl.full((M,), -float("inf"), tl.float32), tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for start in range(0, keys, N):
        j = start + tl.arange(0, N)
        there = j[:, None] < keys
        k_tile = tl.load(k + at_k + j[:, None] * D + d[None, :], mask=there, other=0.0)
        s = tl.dot(q_tile, tl.trans(k_tile)) * scale
        kept = (j[None, :] < keys) & ((j[None, :] <= i[:, None] + keys - rows) | (not CAUSAL))
        s = tl.where(kept, s, -float("inf"))
        top = tl.maximum(m, tl.max(s, 1))
        safe = tl.where(top == -float("inf"), 0.0, top)
        p, alpha = tl.exp(s - safe[:, None]), tl.exp(m - safe)
        v_tile = tl.load(v + at_k + j[:, None] * D + d[None, :], mask=there, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v_tile.dtype), v_tile)
        l, m = l * alpha + tl.sum(p, 1), top
    total = tl.where(l == 0, 1.0, l)
    tl.store(
        o + at_q + i[:, None] * D + d[None, :],
        (acc / total[:, None]).to(o.dtype.element_ty),
        mask=i[:, None] < rows,
    )
    tl.store(lse + head.to(tl.int64) * rows + i, m + tl.log(l), mask=i < rows)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool, scale: float):
    """O and LSE."""
    batch, heads, rows, width = q.shape
    o, lse = torch.empty_like(q), torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    grid = (triton.cdiv(rows, ROWS), batch * heads)
    forward[grid](q, k, v, o, lse, rows, k.shape[2], scale, width, causal, ROWS, KEYS)
    return o, lse
