"""The CPU as a device kernels can run on."""

import os
import platform
from functools import cache
from pathlib import Path

from flashscope.kernels.cpu.allowance import allowed_memory, memory_groups, usable_cores
from flashscope.kernels.workload.device import Device

_CPUINFO = Path("/proc/cpuinfo")


@cache
def describe() -> Device:
    """This machine's CPU: the name its maker gave it, and the RAM and logical cores that it lets us use."""
    return Device(
        backend="cpu",
        name=_model_name() or platform.processor() or platform.machine(),
        memory_bytes=allowed_memory(machine_memory(), memory_groups()),
        multiprocessors=len(usable_cores()),
    )


def machine_memory() -> int:
    """Bytes of RAM that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _model_name() -> str | None:
    """The model as Linux tells it, None elsewhere."""
    if not _CPUINFO.exists():
        return None
    lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)
