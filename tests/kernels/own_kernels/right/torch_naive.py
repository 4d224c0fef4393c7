"""Attention as it is written in textbooks, in PyTorch."""

from typing import Any

import torch


def f(q: Any, k: Any, v: Any, *, causal: bool, scale: float) -> tuple[Any, Any]:
    """O and LSE."""
    group = q.shape[1] // k.shape[1]
    keys, values = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scores = q @ keys.transpose(-1, -2) * scale
    if causal:
        kept = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device)
        scores = scores.masked_fill(~kept.tril(k.shape[2] - q.shape[2]), float("-inf"))
    lse = torch.logsumexp(scores.float(), dim=-1)
    weights = torch.exp(scores - torch.where(lse.isneginf(), 0, lse)[..., None])
    return weights.to(v.dtype) @ values, lse
