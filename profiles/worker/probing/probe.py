"""Look at this machine: what kernels can run on, and what is missing, with its remedy. Never raises."""

from importlib.util import find_spec
from typing import Any

import msgspec

from flashscope.kernels.catalogue.sources import source_digests
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.machine import Gpu, Machine, ProbeFinding
from flashscope.profiles.worker.child import blas_threads
from flashscope.profiles.worker.nvml import NvmlError, listed_gpus, open_nvml, under_wsl
from flashscope.profiles.worker.probing.fitting import cupy_missing, no_gpu_found
from flashscope.profiles.worker.probing.host import probe_host


def probe_machine(nvml: Any | None = None) -> Machine:
    """Everything known about this machine; `nvml` takes the place of pynvml.

    CUDA is initialised for it: child processes only.
    """
    machine = probe_host()
    driver, *nvml_findings = _probe_nvml(nvml)
    findings = [*machine.findings, *nvml_findings]
    machine = msgspec.structs.replace(
        machine, driver=driver, blas_threads=blas_threads(), sources=source_digests()
    )
    if find_spec("cupy") is None:
        findings.append(cupy_missing(driver))
        return msgspec.structs.replace(machine, findings=tuple(findings))
    return _with_cuda(machine, findings)


def found_gpus(nvml: Any | None = None) -> tuple[Gpu, ...]:
    """All GPUs of this machine; none where NVML does not tell. `nvml` takes the place of pynvml."""
    try:
        listed = listed_gpus(nvml)
    except Exception:  # noqa: BLE001 - a probe reports, and the machine's findings say why
        return ()
    return tuple(Gpu(number=one.number, uuid=one.uuid, name=one.name) for one in listed)


def _probe_nvml(nvml: Any | None) -> tuple[Any, ...]:
    """The driver's version (None without one), then what was found."""
    try:
        nvml = open_nvml(nvml)
        driver = nvml.nvmlSystemGetDriverVersion()
        found = ProbeFinding(name="NVML", ok=True, detail=nvml.nvmlSystemGetNVMLVersion())
    except NvmlError as error:
        return None, ProbeFinding(name="NVML", ok=False, detail=error.cause, remedy=error.remedy)
    except Exception as error:  # noqa: BLE001 - a probe reports, it never raises
        return None, ProbeFinding(name="NVML", ok=False, detail=str(error))
    findings = [ProbeFinding(name="NVIDIA driver", ok=True, detail=driver), found]
    if under_wsl():
        detail = "this is WSL, where NVML cannot tell the memory of single processes"
        findings.append(ProbeFinding(name="WSL", ok=True, detail=detail))
    return (driver, *findings)


def _with_cuda(machine: Machine, findings: list[ProbeFinding]) -> Machine:
    """The machine with its CUDA device, or with the reason why there is none."""
    try:
        from flashscope.profiles.worker.probing.cuda import find_cuda  # noqa: PLC0415 - imports CuPy

        found = find_cuda()
    except Exception as error:  # noqa: BLE001 - a probe reports, it never raises
        findings.append(no_gpu_found(error, machine.driver, machine.packages))
        return msgspec.structs.replace(machine, findings=tuple(findings))
    findings += found.findings
    free: dict[Backend, int] = {**machine.free_bytes, "cuda": found.free_bytes}
    return msgspec.structs.replace(
        machine,
        devices=(*machine.devices, found.device),
        cuda=found.cuda,
        free_bytes=free,
        findings=tuple(findings),
    )
