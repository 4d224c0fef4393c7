"""PyTorch's defaults, which hold for every kernel of the process: a file of the user's own may not set them.

A file often sets one as it is imported, and that is what first imports PyTorch: so what PyTorch begins with
stands for what it had before.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from flashscope.profiles.worker.instruments.bench import KeptSettings

TF32_ASKED_FOR = "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"
MIXED = "set in two ways"


def _precision(torch: Any) -> str:
    try:
        return str(torch.get_float32_matmul_precision())
    except RuntimeError:  # so says PyTorch where one backend's was set, too
        return MIXED


def _allowed(torch: Any) -> tuple[bool, ...]:
    allowed = torch.backends.cuda
    return (
        allowed.flash_sdp_enabled(),
        allowed.mem_efficient_sdp_enabled(),
        allowed.math_sdp_enabled(),
        allowed.cudnn_sdp_enabled(),
    )


def _of_torch(read: Callable[[Any], object], usual: Callable[[], object]) -> object:
    torch = sys.modules.get("torch")
    return usual() if torch is None else read(torch)


def _usual_precision() -> str:
    return "high" if os.environ.get(TF32_ASKED_FOR) == "1" else "highest"


TORCH_DEFAULTS: KeptSettings = {
    "whether PyTorch records gradients": partial(
        _of_torch, lambda torch: torch.is_grad_enabled(), lambda: True
    ),
    "PyTorch's precision of float32 products": partial(_of_torch, _precision, _usual_precision),
    "PyTorch's default dtype": partial(
        _of_torch, lambda torch: str(torch.get_default_dtype()), lambda: "torch.float32"
    ),
    "PyTorch's default device": partial(
        _of_torch, lambda torch: torch.get_default_device().type, lambda: "cpu"
    ),
    "which kernels PyTorch's attention may take": partial(_of_torch, _allowed, lambda: (True,) * 4),
    "whether PyTorch takes deterministic algorithms alone": partial(
        _of_torch, lambda torch: torch.are_deterministic_algorithms_enabled(), lambda: False
    ),
}
