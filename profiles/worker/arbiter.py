"""One kernel for another instrument to measure: `python -m profiles.worker.arbiter`, a process of its own.

`counters`: one cold run between the calls that a profiler such as ncu waits for. `times`: prints as JSON what
each of some cold runs took in its kernels, as PyTorch's profiler has it, in ms.
"""

import sys
from typing import Any

import cupy
import msgspec
from cupy.cuda import runtime

from kernels.launch import Launch, make_inputs, prepare
from kernels.problem import Problem
from kernels.registry import find_kernel

WARM_UP = 3
RUNS = 20
FLUSH_BYTES = 256 << 20


def main(what: str, kernel: str, problem: str) -> None:
    """Prepare the kernel on the problem (JSON), warm it up, and have it measured."""
    decoded = msgspec.json.decode(problem, type=Problem)
    launch = prepare(find_kernel(kernel), decoded, make_inputs(decoded, "cuda"), "cuda")
    for _ in range(WARM_UP):
        launch.run()
    runtime.deviceSynchronize()
    {"counters": profiled, "times": timed}[what](launch)


def profiled(launch: Launch) -> None:
    """One run between the profiler's start and stop; it empties the caches itself."""
    runtime.profilerStart()
    launch.run()
    runtime.deviceSynchronize()
    runtime.profilerStop()


def timed(launch: Launch) -> None:
    """Print what each run's kernels took."""
    from kernels.library.kernel_times import kernel_times_ms  # noqa: PLC0415 - ncu's run needs no PyTorch

    memory: Any = cupy.cuda.Memory(FLUSH_BYTES)

    def flush() -> None:
        runtime.memset(memory.ptr, 0, memory.size)
        runtime.deviceSynchronize()

    print(msgspec.json.encode(kernel_times_ms(launch.run, flush, RUNS)).decode())  # noqa: T201 - its answer


if __name__ == "__main__":
    main(*sys.argv[1:])
