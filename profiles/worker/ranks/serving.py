"""A process that measures attention on several ranks: it reads what is asked, answers, and ends."""

import gc
import sys

import msgspec

from flashscope.kernels.workload.errors import KernelError
from flashscope.profiles.wire.ranks import RanksAnswer, RanksEnded, RanksToMeasure, decode_ranks_request
from flashscope.profiles.worker.child import use_one_blas_thread


def main() -> None:
    """Do what stands on stdin, a request a line, one after the other; the answers go to stdout, a line each.

    It ends early where a GPU's context may be broken.
    """
    requests = [decode_ranks_request.decode(line) for line in sys.stdin.buffer.read().splitlines()]
    use_one_blas_thread()
    for request in requests:
        ended, healthy = _measured(request)
        say(ended)
        if not healthy:
            break


def _measured(request: RanksToMeasure) -> tuple[RanksEnded, bool]:
    """How a request ended, and whether others can follow it in this process."""
    from flashscope.profiles.worker.failures import explain, misused  # noqa: PLC0415 - after the threads
    from flashscope.profiles.worker.ranks.measuring import measure  # noqa: PLC0415 - it imports NumPy

    gc.collect()  # arrays of the request before
    try:
        return measure(request, say), True
    except Exception as error:  # noqa: BLE001 - whatever is raised is the answer
        refusal = explain(error, "measure")
        told = isinstance(error, KernelError | MemoryError)
        ended = RanksEnded(reason=refusal.reason, detail=refusal.detail, misused=misused(error))
        return ended, told or request.backend == "cpu"


def say(answer: RanksAnswer) -> None:
    """Answer with a line."""
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()
