"""Whether a kernel leaves alone what Python counts of its memory."""

import ctypes
import tracemalloc

from flashscope.profiles.worker.instruments.bench import Run
from flashscope.profiles.worker.vetting.answers import caught

DOMAIN, PLACE = 0x46534350, 64  # of a block that is counted and nowhere is
HIGHER = 1 << 50  # bytes, more than any run allocates


def tell_uncounted(run: Run) -> None:
    """Run once, from a peak that no run reaches: it must stand there afterwards.

    Tracing is on, and goes on from a peak of what is allocated now.

    Raises:
        CaughtError: It does not.
    """
    ctypes.pythonapi.PyTraceMalloc_Track(DOMAIN, ctypes.c_size_t(PLACE), ctypes.c_size_t(HIGHER))
    ctypes.pythonapi.PyTraceMalloc_Untrack(DOMAIN, ctypes.c_size_t(PLACE))
    run()
    if tracemalloc.get_traced_memory()[1] < HIGHER:
        raise caught(
            "It set back what Python counts of its memory (tracemalloc), by which its footprint is read."
        )
    tracemalloc.reset_peak()
