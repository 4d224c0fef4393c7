"""Whether any attention keeps the losses of a training in a bound: pytest -m benchmark -s training_bench.py.

A small Llama in bfloat16, on a GPU or the CPU, trains with PyTorch's math and flash backends, and with others
that are right: in how many steps is their difference from either at most twice that between the two? Prints,
and gates on nothing. The most exact of them computes in float64 and rounds O alone.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import pytest

from flashscope.kernels import register_transformers
from tests.kernels.library.conftest import models as models  # noqa: PLC0414 - a fixture
from tests.kernels.library.test_training import STEPS, losses, sentences

SEEDS = (0, 1)
BLOCK = 16  # keys
PAIR = ("math", "flash")

Way = tuple[str, Callable[[], AbstractContextManager[Any]]]


def wide(dtype: str) -> Callable[..., tuple[Any, None]]:
    """Causal attention in a wide dtype, whose O alone is rounded."""
    import torch  # noqa: PLC0415 - only where it is installed

    def attend(_module: Any, q: Any, k: Any, v: Any, _mask: Any, scaling: float, **_more: Any) -> Any:
        q, k, v = (array.to(getattr(torch, dtype)) for array in (q, *_shared(q, k, v)))
        weights = torch.softmax(_scores(q, k, scaling), -1)
        return (weights @ v).to(torch.bfloat16).transpose(1, 2).contiguous(), None

    return attend


def in_blocks(_module: Any, q: Any, k: Any, v: Any, _mask: Any, scaling: float, **_more: Any) -> Any:
    """Causal attention that rounds P before it is divided by its sum, and adds in blocks, as tiles do."""
    k, v = (array.float() for array in _shared(q, k, v))
    scores = _scores(q.float(), k, scaling)
    weights = (scores - scores.amax(-1, keepdim=True).detach()).exp()
    output = sum(
        weights[..., first : first + BLOCK].to(q.dtype).float() @ v[:, :, first : first + BLOCK]
        for first in range(0, k.shape[2], BLOCK)
    )
    return (output / weights.sum(-1, keepdim=True)).to(q.dtype).transpose(1, 2).contiguous(), None


def _shared(q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    group = q.shape[1] // k.shape[1]
    return k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)


def _scores(q: Any, k: Any, scaling: float) -> Any:
    scores = q @ k.mT * scaling
    return scores.masked_fill(scores.new_ones(scores.shape[-2:]).triu(1).bool(), float("-inf"))


def ways(on_gpu: bool) -> Iterator[tuple[str, Way]]:
    from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: PLC0415 - only where it is installed
    from transformers import AttentionInterface  # noqa: PLC0415
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask  # noqa: PLC0415

    backends = {"math": "MATH", "flash": "FLASH_ATTENTION"}
    backends |= {"efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION"} if on_gpu else {}
    for name, backend in backends.items():
        yield name, ("sdpa", partial(sdpa_kernel, getattr(SDPBackend, backend)))
    yield "eager", ("eager", nullcontext)
    written = {"float32 inside": wide("float32"), "float64 inside": wide("float64"), "in blocks": in_blocks}
    for name, attend in written.items():
        key = f"bench_{name.replace(' ', '_')}"
        AttentionInterface.register(key, attend)
        AttentionMaskInterface.register(key, sdpa_mask)
        yield name, (key, nullcontext)
    for name in ("flash2", "flash3") if on_gpu else ():
        yield name, (register_transformers(name), nullcontext)


def compare(found: Mapping[str, Any]) -> None:
    bound = 2 * np.abs(found["flash"] - found["math"])
    for name, one in found.items():
        for beside in PAIR if name not in PAIR else ():
            apart = np.abs(one - found[beside])
            until = np.maximum.accumulate(apart) <= np.maximum.accumulate(bound)
            print(  # noqa: T201
                f"  {name:15} beside {beside:6} within twice in {(apart <= bound).sum():3} of {STEPS} steps, "
                f"the largest so far in {until.sum():3}; {np.median(apart):.1e} apart (median)"
            )


@pytest.mark.benchmark
@pytest.mark.transformers
@pytest.mark.parametrize("seed", SEEDS)
def test_losses_beside_those_of_pytorchs_backends(models: Any, seed: int) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokens, found = sentences(models.VOCABULARY, seed), {}
    for name, (implementation, forced) in ways(device == "cuda"):
        found[name] = losses(models.for_tensor_cores(device, seed), implementation, forced, tokens)
    first, last = found["math"][[0, -1]]
    print(f"\nbfloat16 on {device}, seed {seed}: losses from {first:.2f} to {last:.2f}")  # noqa: T201
    compare(found)
