"""What the program learns about a GPU."""

import ctypes
from typing import Any
from uuid import UUID

import pytest

from flashscope.kernels.cuda.device import describe, read_uuid


class Driver:
    """Answers for GPUs with these UUIDs, as libcuda does: 0, or what went wrong."""

    def __init__(self, *uuids: UUID) -> None:
        self._uuids = uuids

    def cuDeviceGet(self, device: Any, index: int) -> int:
        device._obj.value = index
        return 0 if index < len(self._uuids) else 101

    def cuDeviceGetUuid_v2(self, raw: Any, device: ctypes.c_int) -> int:
        raw.raw = self._uuids[device.value].bytes
        return 0


def test_a_uuid_with_a_byte_of_zero_is_read_whole() -> None:
    plain, zero = UUID("11223344-5566-7788-99aa-bbccddeeff11"), UUID("11003344-5566-0088-99aa-bbccddeeff00")
    driver = Driver(plain, zero)
    assert [read_uuid(driver, index) for index in range(2)] == [f"GPU-{plain}", f"GPU-{zero}"]
    assert read_uuid(driver, 2) is None


@pytest.mark.gpu
def test_the_uuid_is_the_one_nvml_knows() -> None:
    import pynvml  # noqa: PLC0415 - needs the driver

    pynvml.nvmlInit()
    try:
        known = [
            pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(i))
            for i in range(pynvml.nvmlDeviceGetCount())
        ]
    finally:
        pynvml.nvmlShutdown()
    assert describe().uuid in known


@pytest.mark.gpu
def test_the_numbers_are_those_of_a_real_gpu() -> None:
    device = describe()
    assert device.backend == "cuda"
    assert device.memory_bytes > 2**30
    assert device.compute_capability is not None
    assert device.compute_capability >= (7, 5)
    assert device.shared_memory_per_block is not None
    assert device.shared_memory_per_block >= 48 * 1024
    assert device.multiprocessors
    assert device.l2_bytes
