"""A process that compiles or times cuts: it reads what is asked, answers cut by cut, and ends."""

import os
import sys

from flashscope.kernels.workload.errors import KernelError
from flashscope.profiles.wire.cuts import (
    CutAnswer,
    CutCompiled,
    CutsAsked,
    CutsEnded,
    decode_request,
    encode_line,
)
from flashscope.profiles.worker.child import use_one_blas_thread


def main() -> None:
    """Do what stands on stdin; the answers go to stdout, a line each."""
    request = decode_request.decode(sys.stdin.buffer.read())
    try:
        if isinstance(request, CutsAsked):
            _say(_compile(request))
            return
        if request.backend == "cpu":  # of a GPU's cuts NumPy computes the oracle alone
            use_one_blas_thread()
        from flashscope.profiles.worker.cut_times import time_cuts  # noqa: PLC0415 - after the threads

        _say(time_cuts(request, _say))
    except KernelError as error:
        _say(CutsEnded(reason=str(error)))


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
