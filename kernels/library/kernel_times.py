"""What PyTorch's profiler says of kernels' durations, also of those that CuPy launches."""

from collections.abc import Callable

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

COPIES = ("Memcpy", "Memset")


def kernel_times_ms(run: Callable[[], None], before: Callable[[], None], runs: int) -> list[float]:
    """What the kernels of each run took together, in ms, without the gaps between them.

    Args:
        run: Enqueues one run.
        before: Done before each run, and not counted; waits for the device.
        runs: How many.
    """
    taken = []
    for _ in range(runs):
        before()
        with profile(activities=[ProfilerActivity.CUDA]) as recorded:
            run()
            torch.cuda.synchronize()
        taken.append(
            sum(float(one.device_time_total) for one in recorded.events() or () if _is_kernel(one)) / 1e3
        )
    return taken


def _is_kernel(event: object) -> bool:
    on_device = getattr(event, "device_type", None) == DeviceType.CUDA
    return on_device and not getattr(event, "name", "").startswith(COPIES)
