"""The CUDA part of the probe. Imports CuPy: child processes only."""

from typing import NamedTuple

import cupy
from cupy.cuda import nvrtc, runtime

from kernels.cuda.device import describe
from kernels.device import Device
from kernels.spec import install_command
from profiles.plan.machine import Finding


class CudaFound(NamedTuple):
    """The first CUDA device, its free bytes, the runtime's version, and what there is to say."""

    device: Device
    free_bytes: int
    cuda: str
    findings: list[Finding]


def find_cuda() -> CudaFound:
    """Look at the current CUDA device.

    Raises:
        DeviceUnavailableError: CuPy does not load or sees no GPU.
        CUDARuntimeError: The GPU does not answer.
    """
    device = describe()
    version = runtime.runtimeGetVersion()
    cuda = f"{version // 1000}.{version % 1000 // 10}"
    findings = [
        Finding(name="CuPy", ok=True, detail=cupy.__version__),
        Finding(name="CUDA", ok=True, detail=f"{cuda} on {device.name}"),
        _nvrtc(),
    ]
    return CudaFound(device, runtime.memGetInfo()[0], cuda, findings)


def _nvrtc() -> Finding:
    try:
        version = ".".join(map(str, nvrtc.getVersion()))
    except Exception as error:  # noqa: BLE001 - a library that does not load raises one of many errors
        remedy = f"{install_command('cuda13')}, which brings nvidia-cuda-nvrtc"
        return Finding(name="NVRTC", ok=False, detail=f"it does not load: {error}", remedy=remedy)
    return Finding(name="NVRTC", ok=True, detail=version)
