"""A small Llama that trains with our kernels goes the way it goes with PyTorch's own."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest

from flashscope.kernels import register_transformers

STEPS, BATCH, TOKENS = 200, 4, 64
LEARNING_RATE = 1e-3
FLOOR = 4  # numbers of float32 between two losses that say nothing of the kernels: a loss is rounded itself


def sentences(vocabulary: int) -> Any:
    """Tokens (STEPS, BATCH, TOKENS), each followed by one of three, so that there is something to learn."""
    import torch  # noqa: PLC0415 - only where it is installed

    draw = torch.Generator().manual_seed(3)
    following = torch.randint(0, vocabulary, (vocabulary, 3), generator=draw)
    tokens = [torch.randint(0, vocabulary, (STEPS, BATCH), generator=draw)]
    while len(tokens) < TOKENS:
        choice = torch.randint(0, 3, (STEPS, BATCH), generator=draw)
        tokens.append(following[tokens[-1], choice])
    return torch.stack(tokens, dim=-1)


def losses(models: Any, implementation: str, forced: AbstractContextManager[Any]) -> Any:
    """The loss of every step of a Llama of 2 layers, float32 (STEPS,).

    Args:
        models: The module of small models.
        implementation: As Transformers calls it.
        forced: What forces a backend of PyTorch's.
    """
    import torch  # noqa: PLC0415 - only where it is installed

    model = models.with_sharp_rows()
    model.set_attn_implementation(implementation)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    found = np.empty(STEPS, np.float32)
    with forced:
        for step, tokens in enumerate(sentences(models.VOCABULARY)):
            loss = model(input_ids=tokens, labels=tokens).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found[step] = loss.item()
    return found


@pytest.mark.transformers
@pytest.mark.matrix  # half a minute
def test_losses_are_apart_by_no_more_than_twice_what_pytorchs_own_backends_are(models: Any) -> None:
    from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: PLC0415 - only where it is installed

    math = losses(models, "sdpa", sdpa_kernel(SDPBackend.MATH))
    flash = losses(models, "sdpa", sdpa_kernel(SDPBackend.FLASH_ATTENTION))
    ours = losses(models, register_transformers("flash2"), nullcontext())
    assert ours[-1] < ours[0] / 2  # it learns
    allowed = np.maximum(2 * np.abs(flash - math), FLOOR * np.spacing(math))
    np.testing.assert_array_less(np.abs(ours - math), allowed * 1.0001)
