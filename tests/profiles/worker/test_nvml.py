"""What NVML lists, and how it fails."""

import pynvml
import pytest

from flashscope.profiles.plan.machine import Gpu
from flashscope.profiles.worker.nvml import ListedGpu, NvmlError, driver_version, listed_gpus
from flashscope.profiles.worker.probing.probe import found_gpus
from tests.profiles.worker.fake_nvml import UUID, FakeNvml


def test_the_gpus_of_a_machine_are_listed_with_number_uuid_and_name() -> None:
    assert listed_gpus(FakeNvml()) == (ListedGpu(0, UUID, "Fake GPU"),)
    assert found_gpus(FakeNvml()) == (Gpu(number=0, uuid=UUID, name="Fake GPU"),)
    assert driver_version(FakeNvml()) == "580.1"


@pytest.mark.parametrize("broken", ["nvmlInit", "nvmlDeviceGetHandleByIndex"])
def test_a_gpu_that_is_lost_is_told_with_the_remedy(broken: str) -> None:
    with pytest.raises(NvmlError, match="check its power and cooling"):
        listed_gpus(FakeNvml({broken: pynvml.NVML_ERROR_GPU_IS_LOST}))
    assert found_gpus(FakeNvml({broken: pynvml.NVML_ERROR_GPU_IS_LOST})) == ()
