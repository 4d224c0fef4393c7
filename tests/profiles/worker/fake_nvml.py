"""An NVML with one GPU, whose answers a test chooses; errors and constants are pynvml's own."""

from types import SimpleNamespace
from typing import Any

import pynvml

UUID = "GPU-00000000-0000-0000-0000-000000000001"


class FakeNvml:
    """Answers like NVML; `errors` maps a function's name to the error code it raises."""

    def __init__(self, errors: dict[str, int] | None = None, *, mig: bool = False) -> None:
        self.errors = errors or {}
        self.mig = mig
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvml") or name.startswith("nvmlMemory_"):
            return getattr(pynvml, name)

        def call(*arguments: Any) -> Any:
            self.asked.append(name)
            key = f"{name}_v2" if name == "nvmlDeviceGetMemoryInfo" and len(arguments) > 1 else name
            if key in self.errors:
                raise pynvml.NVMLError(self.errors[key])
            return self._answer(name, arguments)

        return call

    def _answer(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name == "nvmlGpmMetricsGet":
            return _tell_shares(*arguments)
        reserved = 0 if len(arguments) > 1 else 500
        power = SimpleNamespace(nvmlReturn=pynvml.NVML_SUCCESS, value=SimpleNamespace(uiVal=321_000))
        answers = {
            "nvmlInit": None,
            "nvmlSystemGetDriverVersion": "580.1",
            "nvmlSystemGetNVMLVersion": "13.580.1",
            "nvmlDeviceGetHandleByUUID": "handle",
            "nvmlDeviceGetHandleByIndex": "handle",
            "nvmlDeviceGetCount": 1,
            "nvmlDeviceGetUUID": UUID,
            "nvmlDeviceGetName": "Fake GPU",
            "nvmlDeviceGetMigMode": (int(self.mig), int(self.mig)),
            "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=1000 + reserved, total=9000),
            "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=42),
            "nvmlDeviceGetFieldValues": [power],
            "nvmlDeviceGetPowerUsage": 300_000,
            "nvmlDeviceGetEnforcedPowerLimit": 700_000,
            "nvmlGpmQueryDeviceSupport": SimpleNamespace(isSupportedDevice=1),
            "nvmlGpmSampleAlloc": None,
            "nvmlGpmSampleGet": None,
            "nvmlDeviceGetApplicationsClock": 1755,
            "nvmlDeviceGetGpcClkVfOffset": 0,
            "nvmlDeviceGetMemClkVfOffset": 0,
            "nvmlDeviceGetPowerManagementLimit": 700_000,
            "nvmlDeviceGetTotalEnergyConsumption": 5_000_000,
            "nvmlDeviceGetTemperature": 55,
            "nvmlDeviceGetClockInfo": 1980 if arguments[1:] == (pynvml.NVML_CLOCK_SM,) else 3201,
            "nvmlDeviceGetCurrentClocksEventReasons": 0x01 | 0x04 | 0x40,
        }
        return answers[name]


SHARES = {  # in percent, as NVML tells them
    pynvml.NVML_GPM_METRIC_SM_UTIL: 90.0,
    pynvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL: 60.0,
    pynvml.NVML_GPM_METRIC_DRAM_BW_UTIL: 25.0,
}


def _tell_shares(asked: Any) -> None:
    for metric in asked.metrics[: asked.numMetrics]:
        metric.value = SHARES[metric.metricId]
