"""A limit of processor time and memory for what reads a file from elsewhere."""

import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_S = 20.0  # the slowest reader takes 3.6 s on a machine at half the usual speed, more on a busy one
MOST_BYTES = 1 << 30


@contextmanager
def limited(seconds: float = MOST_S, nbytes: int = MOST_BYTES) -> Iterator[None]:
    """Fail what takes more than so many seconds of this process, or so many bytes beyond what it holds.

    Memory that is refused raises a MemoryError. Loops in Python are broken off; what does not return
    from C is left to the timeout of its test.
    """

    def over(_number: int, _frame: object) -> None:
        raise TimeoutError(f"it takes more than {seconds:g} s of processor time")

    before, (soft, hard) = signal.signal(signal.SIGPROF, over), resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_held_bytes() + nbytes, hard))
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    assert time.process_time() - begun < seconds


def _held_bytes() -> int:
    """Data and stack of this process, as RLIMIT_DATA counts them."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    return pages * resource.getpagesize()
