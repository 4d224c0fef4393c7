"""What the GPU did in a step is told by the CUDA calls that asked for it, whoever made them."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = pytest.mark.transformers


@pytest.fixture
def found() -> Any:
    """The module, which imports PyTorch."""
    return import_module("flashscope.kernels.library.models.profile")


def event(device: str, name: str, number: int, start: float, end: float, *, annotation: bool = False) -> Any:
    """An event as PyTorch's profiler has them; times in us."""
    kinds = import_module("torch.autograd").DeviceType
    return SimpleNamespace(
        device_type=getattr(kinds, device),
        name=name,
        id=number,
        time_range=SimpleNamespace(start=start, end=end),
        is_user_annotation=annotation,
    )


EVENTS = (
    ("CPU", "aten::mm", 7, 0.0, 9.0),  # PyTorch counts its operators apart from CUDA's calls
    ("CPU", "cudaLaunchKernel", 3, 2.0, 3.0),
    ("CPU", "cuLaunchKernelEx", 7, 12.0, 13.0),  # as CuPy and Triton do
    ("CUDA", "gemm", 3, 20.0, 26.0),
    ("CUDA", "flash3", 7, 26.0, 36.0),
    ("CUDA", "flash3_combine", 7, 30.0, 40.0),
    ("CUDA", "Memset (Device)", 9, 50.0, 52.0),
)


def test_a_kernel_is_known_by_the_call_that_launched_it(found: Any) -> None:
    work = found.device_work([event(*one) for one in EVENTS])
    assert [(one.name, one.launched) for one in work] == [
        ("gemm", 2.0),
        ("flash3", 12.0),
        ("flash3_combine", 12.0),
        ("Memset (Device)", None),
    ]
    within = found.work_of([found.LaunchSpan(11.0, 14.0), found.LaunchSpan(60.0, 70.0)], work)
    assert [one.name for one in within] == ["flash3", "flash3_combine"]


def test_a_range_that_a_user_marked_is_no_work_of_the_gpu(found: Any) -> None:
    marked = event("CUDA", "Optimizer.step#AdamW.step", 3, 0.0, 99.0, annotation=True)
    assert [one.name for one in found.device_work([marked, event(*EVENTS[3])])] == ["gemm"]


def test_kernels_side_by_side_keep_the_gpu_busy_once(found: Any) -> None:
    work = found.device_work([event(*one) for one in reversed(EVENTS)])
    assert found.busy_us(work) == pytest.approx(6 + 14 + 2)
