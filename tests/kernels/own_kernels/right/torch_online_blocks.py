"""The online softmax over blocks of 64 keys, in PyTorch and in place."""

from typing import Any

import torch

_BLOCK = 64


def f(q: Any, k: Any, v: Any, *, causal: bool, scale: float) -> tuple[Any, Any]:
    """O and LSE."""
    group = q.shape[1] // k.shape[1]
    output = torch.zeros_like(q, dtype=torch.float32)
    total = torch.zeros(*q.shape[:3], 1, dtype=torch.float32, device=q.device)
    peak = torch.full_like(total, torch.finfo(torch.float32).min)
    last_seen = torch.arange(q.shape[2], device=q.device)[:, None] + (k.shape[2] - q.shape[2])
    for begin in range(0, k.shape[2], _BLOCK):
        block = slice(begin, begin + _BLOCK)
        keys, values = (one[:, :, block].repeat_interleave(group, dim=1).float() for one in (k, v))
        scores = (q.float() @ keys.transpose(-1, -2)).mul_(scale)
        if causal:
            columns = begin + torch.arange(keys.shape[2], device=q.device)
            scores.masked_fill_(columns > last_seen, float("-inf"))
        higher = torch.maximum(peak, scores.amax(dim=-1, keepdim=True))
        weights, shrink = scores.sub_(higher).exp_(), torch.exp(peak - higher)
        total.mul_(shrink).add_(weights.sum(dim=-1, keepdim=True))
        output.mul_(shrink).add_(weights @ values)
        peak = higher
    lse = (peak + torch.log(total))[..., 0]
    return output.div_(torch.where(total == 0, 1, total)).to(q.dtype), lse
