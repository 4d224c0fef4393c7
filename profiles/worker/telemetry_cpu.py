"""Telemetry of the CPU backend's device, by psutil."""

import time

import psutil

from profiles.wire.events import Reading, TelemetryStarted
from profiles.worker.probe_host import cpu_name

MISSING = {
    "power_w": "the CPU backend reads no power meter",
    "temperature_c": "the CPU backend reads no temperature sensor",
    "sm_clock_mhz": "a CPU has no SMs",
    "memory_clock_mhz": "the system does not tell the clock of its RAM",
    **dict.fromkeys(("sm_share", "tensor_share", "dram_share"), "a CPU has no such counters"),
    "throttle": "the system does not tell why a CPU slows down",
}


class CpuSource:
    """The whole machine's memory and CPU share."""

    def __init__(self) -> None:
        psutil.cpu_percent()  # the first call has no interval to speak of

    def describe(self) -> TelemetryStarted:
        """What is watched."""
        total = psutil.virtual_memory().total
        return TelemetryStarted(source="psutil", device=cpu_name(), memory_total=total, missing=MISSING)

    def read(self) -> Reading:
        """Used RAM, and the share of all logical cores that was busy since the reading before."""
        memory = psutil.virtual_memory()
        return Reading(
            t_ns=time.monotonic_ns(),
            memory_used=memory.total - memory.available,
            utilisation=psutil.cpu_percent(),
        )
