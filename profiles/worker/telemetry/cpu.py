"""Telemetry of the CPU backend's device, by psutil."""

import time
from statistics import mean

import psutil

from flashscope.kernels.cpu.allowance import free_memory, memory_groups, usable_cores
from flashscope.kernels.cpu.device import describe
from flashscope.profiles.wire.events import Reading, TelemetryStarted

MISSING = {
    "power_w": "the CPU backend reads no power meter",
    "temperature_c": "the CPU backend reads no temperature sensor",
    "sm_clock_mhz": "a CPU has no SMs",
    "memory_clock_mhz": "the system does not tell the clock of its RAM",
    **dict.fromkeys(("sm_share", "tensor_share", "dram_share"), "a CPU has no such counters"),
    "throttle": "the system does not tell why a CPU slows down",
}


class CpuSource:
    """Memory and share of what may be used of the machine, whoever uses it."""

    def __init__(self) -> None:
        self._device, self._groups, self._cores = describe(), memory_groups(), usable_cores()
        psutil.cpu_percent(percpu=True)  # the first call has no interval to speak of

    def describe(self) -> TelemetryStarted:
        """What is watched."""
        return TelemetryStarted(
            source="psutil",
            device=self._device.name,
            memory_total=self._device.memory_bytes,
            missing=MISSING,
        )

    def read(self) -> Reading:
        """RAM that cannot be had, and the share of the cores that was busy since the reading before."""
        free = free_memory(psutil.virtual_memory().available, self._groups)
        shares = psutil.cpu_percent(percpu=True)
        ours = [share for core, share in enumerate(shares) if core in self._cores]
        return Reading(
            t_ns=time.monotonic_ns(),
            memory_used=max(self._device.memory_bytes - free, 0),
            utilisation=mean(ours or shares),
        )
