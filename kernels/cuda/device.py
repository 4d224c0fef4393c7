"""The CUDA device as the rest of the program knows it."""

import ctypes
from functools import cache
from typing import Any
from uuid import UUID

from flashscope.installation import cuda_extras, driver_here, install_command
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import DeviceUnavailableError

DRIVER = "libcuda.so.1"
UUID_BYTES = 16


def describe(index: int | None = None) -> Device:
    """Describe a GPU: the current one, or that of a CUDA index.

    Raises:
        DeviceUnavailableError: CuPy is missing or sees no GPU; the text names the remedy.
    """
    cupy = _import_cupy()
    try:
        return _describe(cupy.cuda.Device(index).id)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceUnavailableError(
            f"CUDA cannot be used ({error}); install a driver that fits CuPy, or use the CPU backend."
        ) from error


@cache
def _describe(index: int) -> Device:
    """Asked once a GPU: nothing of it changes while the process lives."""
    cupy = _import_cupy()
    device = cupy.cuda.Device(index)
    properties = cupy.cuda.runtime.getDeviceProperties(index)
    return Device(
        backend="cuda",
        name=properties["name"].decode(),
        memory_bytes=properties["totalGlobalMem"],
        compute_capability=(properties["major"], properties["minor"]),
        shared_memory_per_block=device.attributes["MaxSharedMemoryPerBlockOptin"],
        multiprocessors=properties["multiProcessorCount"],
        l2_bytes=properties["l2CacheSize"],
        uuid=read_uuid(ctypes.CDLL(DRIVER), index),
    )


def read_uuid(driver: Any, index: int) -> str | None:
    """The UUID of a GPU as NVML spells it, from the driver itself; None where it does not tell.

    CuPy's own property ends at the first byte that is zero, which one GPU in sixteen has.
    """
    device, raw = ctypes.c_int(), ctypes.create_string_buffer(UUID_BYTES)
    if driver.cuDeviceGet(ctypes.byref(device), index) or driver.cuDeviceGetUuid_v2(raw, device):
        return None
    return f"GPU-{UUID(bytes=raw.raw)}"


def _import_cupy() -> Any:
    try:
        import cupy  # noqa: PLC0415 - a machine without it still asks what it has
    except ImportError as error:
        fitting = cuda_extras(driver_here())
        remedy = f"install it with {install_command(fitting[0])}, or use" if fitting else "use"
        raise DeviceUnavailableError(
            f"CuPy cannot be imported ({error}); {remedy} the CPU backend."
        ) from error
    return cupy
