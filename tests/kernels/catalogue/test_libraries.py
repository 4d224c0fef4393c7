import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import KERNELS, find_kernel
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem

AWAY = Device(
    backend="cuda",
    name="NVIDIA H100",
    memory_bytes=80 << 30,
    compute_capability=(9, 0),
    shared_memory_per_block=232_448,
    multiprocessors=132,
    libraries=("flash2", "torch-flash"),
)
PROBLEM = Problem(seqlen_q=1024, seqlen_k=1024, head_dim=128, dtype="bfloat16")


def test_of_a_device_elsewhere_the_libraries_there_count() -> None:
    assert find_kernel("torch-flash").unsupported(PROBLEM, AWAY) is None
    reason = find_kernel("torch-flash").unsupported(PROBLEM, replace(AWAY, libraries=("flash2",)))
    assert reason is not None
    assert reason.startswith("torch-flash needs torch")


@pytest.mark.parametrize("device", [None, replace(AWAY, libraries=None)])
def test_of_a_device_at_hand_those_count_that_are_installed_here(device: Device | None) -> None:
    assert [spec.library_is_at(device) for spec in KERNELS] == [spec.library_is_here() for spec in KERNELS]
