"""A PyTorch callable as a kernel of one's own: any library that takes tensors is called in the same way."""

import torch

FLASHSCOPE = {"features": ("causal", "gqa"), "idea": "scaled_dot_product_attention as the dispatcher likes"}


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool, scale: float) -> torch.Tensor:
    """O alone: PyTorch returns no LSE."""
    k, v = (one.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for one in (k, v))
    rows, columns = q.shape[2], k.shape[2]
    kept = torch.ones(rows, columns, dtype=torch.bool, device=q.device).tril(columns - rows)
    mask = kept if causal else None
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)


def attend_backward(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    output: torch.Tensor,
    lse: None,
    grad_output: torch.Tensor,
    *,
    causal: bool,
    scale: float,
) -> tuple[torch.Tensor, ...]:
    """dQ, dK and dV by autograd, which runs the forward pass once more."""
    given = [one.detach().requires_grad_() for one in (q, k, v)]
    output = attend(*given, causal=causal, scale=scale)
    gradients: tuple[torch.Tensor, ...] = torch.autograd.grad(output, given, grad_output)
    return gradients
