"""A process that compiles cuts: it reads what is asked, answers cut by cut, and ends."""

import sys

from flashscope.kernels.cuda.design.compiling import compile_cut
from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS, Target
from flashscope.kernels.workload.errors import KernelError
from flashscope.profiles.wire.cuts import CutAnswer, CutCompiled, CutsEnded, decode_asked, encode_line


def main() -> None:
    """Compile what stands on stdin; the answers go to stdout, a line each."""
    asked = decode_asked(sys.stdin.buffer.read())
    capability = asked.compute_capability
    target = Target(capability, SHARED_MEMORY_LIMITS[capability])
    try:
        for cut in asked.cuts:
            _say(CutCompiled(compiled=compile_cut(cut, asked.problem, target)))
    except KernelError as error:
        _say(CutsEnded(reason=str(error)))
    else:
        _say(CutsEnded())


def _say(answer: CutAnswer) -> None:
    sys.stdout.buffer.write(encode_line(answer) + b"\n")
    sys.stdout.buffer.flush()
