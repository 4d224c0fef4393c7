"""One kernel for another instrument to measure, in a process of its own.

`counters`: cold runs between the calls that a profiler such as ncu waits for, each in two ranges: a run, and
a run with what fills the cache after it. `times`: prints as JSON what each of some cold runs took in its
kernels by PyTorch's profiler, in ms.
"""

from typing import Any

import cupy
import msgspec
from cupy.cuda import runtime

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.passes import PassLaunch, after_forward, draw_given, prepare_passes
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.traffic import NCU_RUNS
from flashscope.profiles.worker.instruments.cache_fill import cache_fill

WARM_UP = 3
TIMED = 20  # runs
FLUSH_BYTES = 256 << 20


def main(what: str, kernel: str, problem: str) -> None:
    """Prepare the kernel on the problem (JSON), warm it up, and have `counters` or `times` measured."""
    decoded = msgspec.json.decode(problem, type=Problem)
    spec = find_kernel(kernel)
    given = after_forward(spec, decoded, draw_given(decoded, "cuda"), "cuda")
    launch = prepare_passes(spec, decoded, given, "cuda")
    for _ in range(WARM_UP):
        launch.run()
    runtime.deviceSynchronize()
    {"counters": profiled, "times": timed}[what](launch)


def profiled(launch: PassLaunch) -> None:
    """Cold runs in pairs, each in a range; in every second one all that it has changed is written to DRAM."""
    fill = cache_fill(runtime.getDeviceProperties(runtime.getDevice())["l2CacheSize"])
    for ranged in ((launch.run,), (launch.run, fill)) * NCU_RUNS:
        fill()
        runtime.deviceSynchronize()
        runtime.profilerStart()
        for one in ranged:
            one()
        runtime.deviceSynchronize()
        runtime.profilerStop()


def timed(launch: PassLaunch) -> None:
    """Print what each run's kernels took."""
    from flashscope.kernels.library.kernel_times import kernel_times_ms  # noqa: PLC0415 - ncu's run needs no PyTorch

    memory: Any = cupy.cuda.Memory(FLUSH_BYTES)

    def flush() -> None:
        runtime.memset(memory.ptr, 0, memory.size)
        runtime.deviceSynchronize()

    print(msgspec.json.encode(kernel_times_ms(launch.run, flush, TIMED)).decode())  # noqa: T201 - its answer
