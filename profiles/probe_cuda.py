"""The CUDA part of the probe. Imports CuPy: child processes only."""

from typing import NamedTuple

import cupy
from cupy.cuda import nvrtc, runtime

from kernels.device import Device
from profiles.machine import Finding
from profiles.nvml import NvmlError, open_nvml


class CudaFound(NamedTuple):
    """The first CUDA device, its free bytes, the runtime's version, and what there is to say."""

    device: Device
    free_bytes: int
    cuda: str
    findings: list[Finding]


def find_cuda() -> CudaFound:
    """Look at CUDA device 0.

    Raises:
        CUDARuntimeError: There is no driver or no device.
        ImportError: CuPy is installed but its libraries are not.
    """
    properties = runtime.getDeviceProperties(0)
    name = properties["name"].decode()
    uuid = _uuid()
    device = Device(
        backend="cuda",
        name=name,
        memory_bytes=properties["totalGlobalMem"],
        compute_capability=(properties["major"], properties["minor"]),
        shared_memory_per_block=properties["sharedMemPerBlockOptin"],
        multiprocessors=properties["multiProcessorCount"],
        l2_bytes=properties["l2CacheSize"],
        uuid=uuid,
    )
    version = runtime.runtimeGetVersion()
    cuda = f"{version // 1000}.{version % 1000 // 10}"
    findings = [
        Finding(name="CuPy", ok=True, detail=cupy.__version__),
        Finding(name="CUDA", ok=True, detail=f"{cuda} on {name}"),
        _nvrtc(),
    ]
    return CudaFound(device, runtime.memGetInfo()[0], cuda, findings)


def _uuid() -> str | None:
    """CUDA device 0's UUID as NVML spells it, found by its place on the bus; None without NVML."""
    try:
        nvml = open_nvml()
    except NvmlError:
        return None
    try:
        handle = nvml.nvmlDeviceGetHandleByPciBusId(cupy.cuda.Device(0).pci_bus_id)
        return str(nvml.nvmlDeviceGetUUID(handle))
    except nvml.NVMLError:
        return None


def _nvrtc() -> Finding:
    try:
        version = ".".join(map(str, nvrtc.getVersion()))
    except Exception as error:  # noqa: BLE001 - a library that does not load raises one of many errors
        remedy = "pip install 'flashscope[cuda13]', which brings nvidia-cuda-nvrtc"
        return Finding(name="NVRTC", ok=False, detail=f"it does not load: {error}", remedy=remedy)
    return Finding(name="NVRTC", ok=True, detail=version)
