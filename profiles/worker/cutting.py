"""A process that compiles or times cuts: it reads what is asked, answers cut by cut, and ends."""

import os
import sys

from flashscope.kernels.workload.errors import KernelError
from flashscope.profiles.wire.cuts import (
    CutAnswer,
    CutCompiled,
    CutsAsked,
    CutsEnded,
    CutsToTime,
    decode_request,
    encode_line,
)
from flashscope.profiles.worker.child import use_one_blas_thread


def main() -> None:
    """Do what stands on stdin, a request a line, one after the other; the answers go to stdout, a line each.

    All are of one backend. It ends early where one leaves the device in a state in which no other can run.
    """
    requests = [decode_request.decode(line) for line in sys.stdin.buffer.read().splitlines()]
    if any(isinstance(one, CutsToTime) and one.backend == "cpu" for one in requests):
        use_one_blas_thread()  # of a GPU's cuts NumPy computes the oracle alone
    from flashscope.profiles.worker.cut_times import CutTimer  # noqa: PLC0415 - after the threads
    from flashscope.profiles.worker.failures import explain  # noqa: PLC0415 - as above

    timer = CutTimer()
    for request in requests:
        try:
            _say(_compile(request) if isinstance(request, CutsAsked) else timer.time(request, _say))
        except (KernelError, MemoryError) as error:
            _say(CutsEnded(reason=explain(error, "prepare").reason))
        if not timer.healthy:
            break


def _compile(asked: CutsAsked) -> CutsEnded:
    os.environ["CUDA_CACHE_DISABLE"] = "1"  # of what NVRTC has in its cache ptxas says nothing
    from flashscope.kernels.cuda.design.compiling import compile_cut  # noqa: PLC0415 - it imports NumPy
    from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS, Target  # noqa: PLC0415 - as above

    capability = asked.compute_capability
    target = Target(capability, SHARED_MEMORY_LIMITS[capability])
    for cut in asked.cuts:
        _say(CutCompiled(compiled=compile_cut(cut, asked.problem, target)))
    return CutsEnded()


def _say(answer: CutAnswer) -> None:
    sys.stdout.buffer.write(encode_line(answer) + b"\n")
    sys.stdout.buffer.flush()
