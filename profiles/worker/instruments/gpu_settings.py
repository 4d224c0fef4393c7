"""How the GPU, its driver and the allocators are set, as nobody is to leave them otherwise. Imports CuPy.

Clocks that are locked by `nvmlDeviceSetGpuLockedClocks` cannot be read back from NVML: they show in the SM
clock of every sample alone.
"""

import os
import sys
from typing import Any

import cupy
from cupy.cuda import runtime

from flashscope.profiles.worker.instruments.bench import KeptSettings
from flashscope.profiles.worker.instruments.gpu_state import GpuState
from flashscope.profiles.worker.instruments.set_aside import l2_set_aside, l2_window

TORCH_VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING")
NATIVE = "native"  # PyTorch's allocator, before PyTorch is loaded, too


def gpu_settings(state: GpuState) -> KeptSettings:
    """How each setting is read, by what it is called.

    Args:
        state: What NVML says of the GPU.
    """
    return {
        "CuPy's allocator": cupy.cuda.get_allocator,
        "CuPy's current stream": _stream,
        "the current device": runtime.getDevice,
        "the driver's memory pool": _pool,
        "PyTorch's allocator": _torch_allocator,
        "PyTorch's current stream": _torch_stream,
        "the part of the L2 cache that is set aside": l2_set_aside,
        "a window of memory that persists in the L2 cache": lambda: l2_window(_stream()),
        "the GPU's clocks": state.clocks,
        "the GPU's power limit": state.power_limit,
    }


def _stream() -> int:
    return int(cupy.cuda.get_current_stream().ptr)


def _pool() -> tuple[int, ...]:
    """Which pool `cudaMallocAsync` takes from, what it keeps, and what it may use again."""
    pool = runtime.deviceGetMemPool(runtime.getDevice())
    asked = (
        runtime.cudaMemPoolAttrReleaseThreshold,
        runtime.cudaMemPoolReuseFollowEventDependencies,
        runtime.cudaMemPoolReuseAllowOpportunistic,
        runtime.cudaMemPoolReuseAllowInternalDependencies,
    )
    return pool, *(int(runtime.memPoolGetAttribute(pool, one)) for one in asked)


def _torch_allocator() -> tuple[Any, ...]:
    torch = sys.modules.get("torch")
    backend = NATIVE if torch is None else torch.cuda.get_allocator_backend()
    return backend, *(os.environ.get(name) for name in TORCH_VARIABLES)


def _torch_stream() -> int:
    """The default one before PyTorch uses the GPU."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0
    return int(torch.cuda.current_stream().cuda_stream)
