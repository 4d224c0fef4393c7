"""Telemetry of a GPU, by NVML."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from flashscope.profiles.wire.events import Reading, TelemetryStarted
from flashscope.profiles.worker.nvml import (
    explain_nvml,
    find_gpu,
    open_nvml,
    power_instant,
    throttle_words,
    under_wsl,
)
from flashscope.profiles.worker.telemetry.gpm import Gpm


class NvmlSource:
    """One GPU, matched by UUID.

    Each field is read once at the start; one that NVML refuses is n/a from then on, with the reason.

    Args:
        uuid: The GPU's UUID; None: the first one.
        nvml: Takes the place of pynvml.

    Raises:
        NvmlError: NVML cannot be used or knows no such GPU.
    """

    def __init__(self, uuid: str | None, nvml: Any | None = None) -> None:
        self._nvml = open_nvml(nvml)
        self._gpu = find_gpu(self._nvml, uuid)
        self._hint = _hint(self._nvml, self._gpu)
        self._missing: dict[str, str] = {}
        self._memory = "memory v2"
        self._gpm: Gpm | None = None
        self._fields = self._supported()

    def describe(self) -> TelemetryStarted:
        """What is watched, with the limits it keeps."""
        limit_mw = self._ask(self._nvml.nvmlDeviceGetEnforcedPowerLimit)
        memory = self._ask(self._nvml.nvmlDeviceGetMemoryInfo)
        return TelemetryStarted(
            source=f"NVML ({self._memory})",
            device=self._ask(self._nvml.nvmlDeviceGetName) or "GPU",
            memory_total=memory and memory.total,
            power_limit_w=limit_mw and limit_mw / 1000,
            missing=self._missing,
        )

    def read(self) -> Reading:
        """One sample; a field that fails this time only is None this time only.

        Raises:
            NvmlError: The GPU is lost.
        """
        t_ns = time.monotonic_ns()
        return Reading(t_ns=t_ns, **{name: self._value(read) for name, read in self._fields.items()})

    def _value(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except self._nvml.NVMLError as error:
            if error.value == self._nvml.NVML_ERROR_GPU_IS_LOST:
                raise explain_nvml(self._nvml, error) from error
            return None

    def _supported(self) -> dict[str, Callable[[], Any]]:
        """For each field the first way of reading it that answers."""
        supported = {}
        for name, ways in self._ways().items():
            refusals = []
            for read in ways:
                refusal = self._refusal(read)
                if refusal is None:
                    supported[name] = read
                    break
                refusals.append(refusal)
            else:
                self._missing[name] = refusals[-1]
        if supported.get("memory_used") == self._memory_v1:
            self._memory = "memory v1, reserved included"
        return supported

    def _ways(self) -> dict[str, list[Callable[[], Any]]]:
        """How each field of a Reading is read, the best way first."""
        nvml, gpu = self._nvml, self._gpu
        return {
            "memory_used": [self._memory_v2, self._memory_v1],
            "utilisation": [lambda: float(nvml.nvmlDeviceGetUtilizationRates(gpu).gpu)],
            "power_w": [lambda: power_instant(nvml, gpu), lambda: nvml.nvmlDeviceGetPowerUsage(gpu) / 1000],
            "temperature_c": [lambda: float(nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU))],
            "sm_clock_mhz": [lambda: float(nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_SM))],
            "memory_clock_mhz": [lambda: float(nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_MEM))],
            **{field: [partial(self._share, field)] for field in ("sm_share", "tensor_share", "dram_share")},
            "throttle": [lambda: throttle_words(nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu))],
        }

    def _memory_v2(self) -> int:
        """Used bytes without what the driver reserves."""
        return int(self._nvml.nvmlDeviceGetMemoryInfo(self._gpu, self._nvml.nvmlMemory_v2).used)

    def _memory_v1(self) -> int:
        """Used bytes with what the driver reserves: all that older drivers tell."""
        return int(self._nvml.nvmlDeviceGetMemoryInfo(self._gpu).used)

    def _share(self, field: str) -> float | None:
        """A share of GPM's, which is set up when it is asked for first."""
        if self._gpm is None:
            self._gpm = Gpm(self._nvml, self._gpu)
        return self._gpm.share(field)

    def _ask(self, question: Callable[[Any], Any]) -> Any:
        """NVML's answer about this GPU, None when it has none."""
        with suppress(self._nvml.NVMLError):
            return question(self._gpu)
        return None

    def _refusal(self, read: Callable[[], Any]) -> str | None:
        """Why a field cannot be read this way, as a clause; None when it can."""
        try:
            read()
        except AttributeError:
            return "this nvidia-ml-py is too old; upgrade it"
        except self._nvml.NVMLError as error:
            if error.value == self._nvml.NVML_ERROR_NOT_SUPPORTED:
                return f"not supported by this GPU{self._hint}"
            return explain_nvml(self._nvml, error).cause
        return None


def _hint(nvml: Any, gpu: Any) -> str:
    """What is known to make NVML answer less here."""
    with suppress(nvml.NVMLError):
        if nvml.nvmlDeviceGetMigMode(gpu)[0] == nvml.NVML_DEVICE_MIG_ENABLE:
            return " while MIG splits it"
    return " under WSL" if under_wsl() else ""
