"""NVML: opened once a process, its failures named with their remedies."""

import platform
from importlib import import_module
from typing import Any, NamedTuple

REMEDIES = {
    "NVML_ERROR_LIBRARY_NOT_FOUND": (
        "the NVML library was not found",
        "install the NVIDIA driver, which brings libnvidia-ml.so.1",
    ),
    "NVML_ERROR_DRIVER_NOT_LOADED": (
        "the NVIDIA driver is not loaded",
        "load it (sudo modprobe nvidia) or reboot",
    ),
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH": (
        "the NVIDIA driver was updated while an older one is still loaded",
        "reboot",
    ),
    "NVML_ERROR_GPU_IS_LOST": (
        "the GPU is lost: it no longer answers on its bus",
        "reboot; if it comes back, check its power and cooling",
    ),
    "NVML_ERROR_NO_PERMISSION": (
        "this user may not read the GPU's state",
        "add the user to the group that owns /dev/nvidia*",
    ),
}
THROTTLE_WORDS = {
    0x02: "application clocks",
    0x04: "software power cap",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
    0x100: "display clocks",
}
SLOWDOWN = 0x08 | 0x20 | 0x40 | 0x80  # the clocks are forced down: a sample taken now is not the GPU's usual


class ListedGpu(NamedTuple):
    """A GPU as NVML lists it."""

    number: int
    uuid: str
    name: str


class NvmlError(Exception):
    """NVML cannot be used.

    Attributes:
        cause: Why, as a clause.
        remedy: What to do about it, as a clause; empty when nothing is known to help.
    """

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(f"{cause[0].upper()}{cause[1:]}{remedy and '; '}{remedy}.")
        self.cause = cause
        self.remedy = remedy


def open_nvml(nvml: Any | None = None) -> Any:
    """Initialise NVML and return its module; `nvml` takes the place of pynvml.

    Raises:
        NvmlError: It cannot be used; the text says why and what to do.
    """
    nvml = import_module("pynvml") if nvml is None else nvml
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise explain_nvml(nvml, error) from error
    return nvml


def driver_version(nvml: Any | None = None) -> str:
    """The NVIDIA driver's version; `nvml` takes the place of pynvml.

    Raises:
        NvmlError: NVML cannot be used.
    """
    return str(open_nvml(nvml).nvmlSystemGetDriverVersion())


def listed_gpus(nvml: Any | None = None) -> tuple[ListedGpu, ...]:
    """The GPUs of this machine in NVML's order; `nvml` takes the place of pynvml.

    Raises:
        NvmlError: NVML cannot be used, or a GPU does not answer.
    """
    nvml = open_nvml(nvml)
    try:
        handles = [nvml.nvmlDeviceGetHandleByIndex(number) for number in range(nvml.nvmlDeviceGetCount())]
        return tuple(
            ListedGpu(number, nvml.nvmlDeviceGetUUID(one), nvml.nvmlDeviceGetName(one))
            for number, one in enumerate(handles)
        )
    except nvml.NVMLError as error:
        raise explain_nvml(nvml, error) from error


def gpu_memory(uuid: str, nvml: Any | None = None) -> int:
    """Bytes of a GPU's memory; `nvml` takes the place of pynvml.

    Raises:
        NvmlError: NVML cannot be used, or there is no such GPU.
    """
    nvml = open_nvml(nvml)
    gpu = find_gpu(nvml, uuid)
    try:
        return int(nvml.nvmlDeviceGetMemoryInfo(gpu).total)
    except nvml.NVMLError as error:
        raise explain_nvml(nvml, error) from error


def power_instant(nvml: Any, gpu: Any) -> float:
    """Watts now; nvmlDeviceGetPowerUsage is an average over a second on Ampere and newer.

    Raises:
        NVMLError: This GPU does not tell.
    """
    (field,) = nvml.nvmlDeviceGetFieldValues(gpu, [nvml.NVML_FI_DEV_POWER_INSTANT])
    if field.nvmlReturn != nvml.NVML_SUCCESS:
        raise nvml.NVMLError(field.nvmlReturn)
    return float(field.value.uiVal) / 1000


def find_gpu(nvml: Any, uuid: str | None) -> Any:
    """The handle of a GPU by its UUID; the first GPU when it is None.

    Raises:
        NvmlError: There is no such GPU.
    """
    try:
        return nvml.nvmlDeviceGetHandleByUUID(uuid) if uuid else nvml.nvmlDeviceGetHandleByIndex(0)
    except nvml.NVMLError as error:
        if error.value in {nvml.NVML_ERROR_NOT_FOUND, nvml.NVML_ERROR_INVALID_ARGUMENT}:
            raise NvmlError(f"NVML knows no GPU {uuid or 'at all'}", "") from error
        raise explain_nvml(nvml, error) from error


def explain_nvml(nvml: Any, error: Any) -> NvmlError:
    """An NVML error as a cause and a remedy."""
    for name, (cause, remedy) in REMEDIES.items():
        if error.value == getattr(nvml, name):
            return NvmlError(cause, remedy)
    return NvmlError(f"NVML answered: {error}", "")


def throttle_words(mask: int) -> tuple[str, ...]:
    """NVML's clock event reasons in words; being idle is none."""
    return tuple(word for bit, word in THROTTLE_WORDS.items() if mask & bit)


def under_wsl() -> bool:
    """Whether this is Linux inside Windows, where NVML answers less."""
    return "microsoft" in platform.release().lower()
