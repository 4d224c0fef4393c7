"""What can be said of this machine without any GPU library; safe in every process."""

import os
import platform

import psutil

from flashscope.kernels.catalogue.environments import version_of
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.cpu.allowance import free_memory, memory_groups
from flashscope.kernels.cpu.device import describe, machine_memory
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.machine import Machine, ProbeFinding

GIB = 1 << 30
PACKAGES = (
    "flashscope",
    "numpy",
    "msgspec",
    "cupy-cuda13x",
    "cupy-cuda12x",
    "nvidia-ml-py",
    *dict.fromkeys(spec.extra for spec in KERNELS if spec.extra is not None),
    "nvidia-cudnn-cu13",
    "nvidia-cudnn-cu12",
)


def probe_host() -> Machine:
    """The operating system, Python, the CPU, its memory and the packages that matter."""
    cpu = describe()
    return Machine(
        system=platform.platform(),
        python=platform.python_version(),
        devices=(cpu,),
        packages=_versions(),
        free_bytes={"cpu": free_memory(psutil.virtual_memory().available, memory_groups())},
        findings=(ProbeFinding(name="CPU", ok=True, detail=_told(cpu)),),
    )


def _told(cpu: Device) -> str:
    """Its name, and what of it may be used."""
    there, usable = os.cpu_count(), cpu.multiprocessors
    cores = f"{there} logical cores" if usable == there else f"{usable} of {there} logical cores may be used"
    if cpu.memory_bytes == machine_memory():
        return f"{cpu.name}, {cores}"
    return f"{cpu.name}, {cores}, memory limited to {cpu.memory_bytes / GIB:.3g} GiB (control group)"


def _versions() -> dict[str, str]:
    """Versions of the packages that matter, those that are installed."""
    return {package: version for package in PACKAGES if (version := version_of(package)) is not None}
