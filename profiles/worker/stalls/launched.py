"""The process that ncu watches: a kernel's timed build, launched alone and then between its two calls."""

import cupy
import msgspec
from cupy.cuda import runtime

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.passes import PassLaunch, after_forward, draw_given, prepare_passes
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.stalls.printed import MARK

WARM_UP, PLAIN = 3, 20  # launches


def main(kernel: str, problem: str) -> None:
    """Prepare the kernel on the problem (JSON), print what launches take, and launch it to be watched."""
    decoded = msgspec.json.decode(problem, type=Problem)
    spec = find_kernel(kernel)
    given = after_forward(spec, decoded, draw_given(decoded, "cuda"), "cuda")
    launch = prepare_passes(spec, decoded, given, "cuda")
    for _ in range(WARM_UP):
        launch.run()
    told = msgspec.json.encode([_ns_of(launch) for _ in range(PLAIN)]).decode()
    print(f"\n{MARK}{told}", flush=True)  # noqa: T201 - its answer
    runtime.profilerStart()
    launch.run()
    runtime.deviceSynchronize()
    runtime.profilerStop()


def _ns_of(launch: PassLaunch) -> int:
    """Run once, between two events; ns."""
    begun, ended = cupy.cuda.Event(), cupy.cuda.Event()
    begun.record()
    launch.run()
    ended.record()
    ended.synchronize()
    return round(float(cupy.cuda.get_elapsed_time(begun, ended)) * 1e6)
