"""What NVML says of the GPU that a worker measures on: what holds its clocks back, its heat, its energy."""

import os
from collections.abc import Callable, Collection
from typing import Any

from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.worker.instruments.conditions import Condition
from flashscope.profiles.worker.instruments.energy import Counter, NoCounterError
from flashscope.profiles.worker.nvml import (
    SLOWDOWN,
    NvmlError,
    explain_nvml,
    find_gpu,
    open_nvml,
    power_instant,
    throttle_words,
)

UNSEEN = "NVML shows no process on this GPU, this one neither"


class GpuState:
    """One GPU, by its UUID. Where NVML cannot be used, everything is unknown for that reason.

    Args:
        uuid: The GPU's UUID; None: the first one.
        nvml: Takes the place of pynvml.
    """

    def __init__(self, uuid: str | None, nvml: Any | None = None) -> None:
        self._gpu: Any = None
        self._reason = ""
        try:
            self._nvml = open_nvml(nvml)
            self._gpu = find_gpu(self._nvml, uuid)
        except NvmlError as error:
            self._reason = error.cause

    def slowdowns(self) -> tuple[str, ...]:
        """The slowdowns in force, in words; empty: none, or nobody knows."""
        return throttle_words((self._reasons() or 0) & SLOWDOWN)

    def condition(self) -> Condition:
        """How it is at this moment."""
        reasons = self._reasons()
        heat = self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU))
        if reasons is None:
            return Condition(None, None, heat)
        return Condition(throttle_words(reasons & SLOWDOWN), throttle_words(reasons & ~SLOWDOWN), heat)

    def others(self, ours: Collection[int] = ()) -> Figure:
        """How many other processes hold a CUDA context on it, but for parked workers.

        In a container processes may be listed by numbers from outside it: so many of those listed are ours.

        Args:
            ours: The parked workers, each of which holds such a context.
        """
        known = self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetComputeRunningProcesses(gpu))
        if not known:
            return Figure(missing=self._reason or UNSEEN)
        own = {os.getpid(), *ours}
        listed = {one.pid for one in known}
        count = len(listed - own) if os.getpid() in listed else max(0, len(listed) - len(own))
        return Figure(value=count, source="NVML's list of compute processes")

    def is_exclusive(self) -> bool:
        """Whether it takes the CUDA context of one process at a time, as some clusters have it."""
        mode = self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetComputeMode(gpu))
        return mode is not None and bool(mode == self._nvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS)

    def memory_used(self) -> int | None:
        """Bytes in use of the whole device; None where it cannot be read."""
        used = self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetMemoryInfo(gpu).used)
        return None if used is None else int(used)

    def energy_counter(self) -> Counter:
        """NVML's counter since the driver was loaded.

        Raises:
            NoCounterError: There is none, or it cannot be read.
        """
        if self._gpu is None:
            raise NoCounterError(self._reason)

        def read() -> float:
            return float(self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._gpu))

        try:
            read()
        except self._nvml.NVMLError as error:
            if error.value == self._nvml.NVML_ERROR_NOT_SUPPORTED:
                raise NoCounterError("this GPU has no energy counter") from error
            raise NoCounterError(explain_nvml(self._nvml, error).cause) from error
        limit = self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetEnforcedPowerLimit(gpu))
        return Counter(
            read,
            "NVML's energy counter, whole board",
            limit and limit / 1000,
            lambda: self._ask(power_instant),
        )

    def clocks(self) -> tuple[int | None, ...] | None:
        """The clocks that applications are to have (MHz, of SMs and memory) and the offsets of both.

        None where NVML cannot be used, or tells none of them.
        """
        known = (
            self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetApplicationsClock(gpu, nvml.NVML_CLOCK_SM)),
            self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetApplicationsClock(gpu, nvml.NVML_CLOCK_MEM)),
            self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetGpcClkVfOffset(gpu)),
            self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetMemClkVfOffset(gpu)),
        )
        return None if all(one is None for one in known) else known

    def power_limit(self) -> int | None:
        """Milliwatts that the board may draw; None where NVML does not tell."""
        limit = self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetPowerManagementLimit(gpu))
        return None if limit is None else int(limit)

    def _reasons(self) -> int | None:
        mask = self._ask(lambda nvml, gpu: nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu))
        return None if mask is None else int(mask)

    def _ask(self, question: Callable[[Any, Any], Any]) -> Any:
        """NVML's answer about this GPU, None when it has none."""
        if self._gpu is None:
            return None
        try:
            return question(self._nvml, self._gpu)
        except self._nvml.NVMLError:
            return None
