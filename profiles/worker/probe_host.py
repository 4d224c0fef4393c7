"""What can be said of this machine without any GPU library; safe in every process."""

import os
import platform
from importlib import metadata

import psutil

from kernels.device import Device
from profiles.plan.machine import Finding, Machine

PACKAGES = (
    "flashscope",
    "numpy",
    "msgspec",
    "cupy-cuda13x",
    "cupy-cuda12x",
    "nvidia-ml-py",
    "torch",
    "flash-attn-4",
    "nvidia-cudnn-cu13",
    "nvidia-cudnn-cu12",
)


def probe_host() -> Machine:
    """The operating system, Python, the CPU, its memory and the packages that matter."""
    memory = psutil.virtual_memory()
    cpu = Device(
        backend="cpu",
        name=cpu_name(),
        memory_bytes=memory.total,
        multiprocessors=os.cpu_count(),
    )
    finding = Finding(name="CPU", ok=True, detail=f"{cpu.name}, {os.cpu_count()} logical cores")
    return Machine(
        system=platform.platform(),
        python=platform.python_version(),
        devices=(cpu,),
        packages=_versions(),
        free_bytes={"cpu": memory.available},
        findings=(finding,),
    )


def cpu_name() -> str:
    """The CPU's model name, or its architecture where the system does not tell."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123 - a stream, not a file on disk
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    """Versions of the packages that matter, those that are installed."""
    return {package: version for package in PACKAGES if (version := _version(package)) is not None}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
