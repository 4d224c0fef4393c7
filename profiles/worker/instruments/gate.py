"""Holds the GPU until the host has enqueued what is timed. Imports CuPy: child processes only.

Without it the GPU would wait for the host between the events, and a library's slow dispatch would count as
its kernel's time. The thread that holds it reads one word of the host's memory and nothing else, so what is
in the L2 cache stays there. (nvbench calls this a blocking kernel.)
"""

from collections.abc import Iterator
from contextlib import contextmanager

import cupy
import numpy as np

SOURCE = r"""
extern "C" __global__ void hold(const volatile unsigned int* opened, unsigned int number,
                                unsigned long long longest_ns) {
  unsigned long long first, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (*opened != number && now - first < longest_ns);
}
"""
LONGEST_S = 0.1  # a host that waits for the GPU while the gate is closed would wait for ever


class Gate:
    """One thread on the GPU that waits for a word in the host's memory, though not for ever."""

    def __init__(self) -> None:
        self._hold = cupy.RawModule(code=SOURCE, options=("-std=c++17",)).get_function("hold")
        self._memory = cupy.cuda.alloc_pinned_memory(np.dtype(np.uint32).itemsize)
        self._opened = np.frombuffer(self._memory, np.uint32, 1)
        self._opened[0] = self._number = 0

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Hold the current stream from here on; what is enqueued meanwhile runs when this ends."""
        self._number += 1
        arguments = (self._memory.ptr, np.uint32(self._number), np.uint64(LONGEST_S * 1e9))
        self._hold((1,), (1,), arguments)
        try:
            yield
        finally:
            self._opened[0] = self._number
