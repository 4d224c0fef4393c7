"""What the program learns about a GPU."""

import pytest

from kernels.cuda.device import describe

pytestmark = pytest.mark.gpu


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
