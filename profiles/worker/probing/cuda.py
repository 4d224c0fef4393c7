"""The CUDA part of the probe. Imports CuPy: child processes only."""

from typing import NamedTuple

import cupy
from cupy.cuda import nvrtc, runtime

from flashscope.installation import install_command
from flashscope.kernels.cuda.cache import settle_cache
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.machine import ProbeFinding


class CudaFound(NamedTuple):
    """The first CUDA device, its free bytes, the runtime's version, and what there is to say."""

    device: Device
    free_bytes: int
    cuda: str
    findings: list[ProbeFinding]


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
        ProbeFinding(name="CuPy", ok=True, detail=cupy.__version__),
        ProbeFinding(name="CUDA", ok=True, detail=f"{cuda} on {device.name}"),
        _nvrtc(version // 1000),
    ]
    if trouble := settle_cache():
        findings.append(ProbeFinding(name="Kernel cache", ok=False, detail=trouble))
    return CudaFound(device, runtime.memGetInfo()[0], cuda, findings)


def _nvrtc(cuda: int) -> ProbeFinding:
    try:
        version = ".".join(map(str, nvrtc.getVersion()))
    except Exception as error:  # noqa: BLE001 - a library that does not load raises one of many errors
        remedy = f"{install_command(f'cuda{cuda}')}, which brings nvidia-cuda-nvrtc"
        return ProbeFinding(name="NVRTC", ok=False, detail=f"it does not load: {error}", remedy=remedy)
    return ProbeFinding(name="NVRTC", ok=True, detail=version)
