"""GPM: what NVML counts of a GPU's own time (Hopper and newer)."""

import time
from typing import Any

WINDOW_S = 0.1  # NVML asks for at least so long between two samples


class Gpm:
    """Shares over the last window, read anew once one has passed.

    Args:
        nvml: pynvml, or what takes its place.
        gpu: The GPU's handle.

    Raises:
        NVMLError: The GPU has no GPM.
    """

    def __init__(self, nvml: Any, gpu: Any) -> None:
        if not nvml.nvmlGpmQueryDeviceSupport(gpu).isSupportedDevice:
            raise nvml.NVMLError(nvml.NVML_ERROR_NOT_SUPPORTED)
        self._nvml, self._gpu = nvml, gpu
        self._metrics = {
            "sm_share": nvml.NVML_GPM_METRIC_SM_UTIL,
            "tensor_share": nvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL,
            "dram_share": nvml.NVML_GPM_METRIC_DRAM_BW_UTIL,
        }
        self._before, self._now = nvml.nvmlGpmSampleAlloc(), nvml.nvmlGpmSampleAlloc()
        self._shares: dict[str, float] = {}
        nvml.nvmlGpmSampleGet(gpu, self._now)
        self._taken_s = time.monotonic()

    def share(self, field: str) -> float | None:
        """From 0 to 1; None until a window has passed, or where NVML has none this time."""
        if time.monotonic() - self._taken_s >= WINDOW_S:
            self._before, self._now = self._now, self._before
            self._nvml.nvmlGpmSampleGet(self._gpu, self._now)
            self._taken_s = time.monotonic()
            self._shares = self._between()
        return self._shares.get(field)

    def _between(self) -> dict[str, float]:
        nvml = self._nvml
        asked = nvml.c_nvmlGpmMetricsGet_t()
        asked.version, asked.numMetrics = nvml.NVML_GPM_METRICS_GET_VERSION, len(self._metrics)
        asked.sample1, asked.sample2 = self._before, self._now
        for place, metric in enumerate(self._metrics.values()):
            asked.metrics[place].metricId = metric
        nvml.nvmlGpmMetricsGet(asked)
        told = zip(self._metrics, asked.metrics, strict=False)
        return {field: one.value / 100 for field, one in told if one.nvmlReturn == nvml.NVML_SUCCESS}
