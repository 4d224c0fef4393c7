"""The clock of the multiprocessors over a run, read on the GPU itself. Imports CuPy: child processes only."""

import cupy
import numpy as np
from numpy.typing import NDArray

SOURCE = r"""
extern "C" __global__ void stamp(unsigned long long* out) {
  unsigned long long cycles, ns;
  unsigned int sm;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  out[0] = cycles;
  out[1] = ns;
  out[2] = sm;
}

extern "C" __global__ void tick(unsigned long long* out) {
  unsigned long long first, now, least = ~0ull;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first));
  for (int changes = 0; changes < 8;) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (now != first) {
      least = min(least, now - first);
      first = now;
      ++changes;
    }
  }
  out[0] = least;
}
"""
COARSEST = 0.01  # share of a run that the timer's tick may be: beyond it the clock would be a guess
STAMP = 3  # numbers of one stamp: cycles, ns, multiprocessor


class SmClock:
    """Stamps a multiprocessor's cycles and the GPU's own time before and after a run.

    The mean clock of the run is the cycles over the time between two stamps (PTX ISA, special registers
    %clock64 and %globaltimer), provided that both were taken on the same multiprocessor: a block of its own
    on an empty GPU is always given the same one.
    """

    def __init__(self) -> None:
        module = cupy.RawModule(code=SOURCE, options=("-std=c++17",))
        self._stamp = module.get_function("stamp")
        # cudaMalloc, apart from the pool whose peak is measured.
        self._memory = cupy.cuda.Memory(2 * STAMP * 8)
        self._places = [self._memory.ptr, self._memory.ptr + STAMP * 8]
        module.get_function("tick")((1,), (1,), (self._places[0],))
        self._tick_ns = int(self._read()[0])

    def start(self) -> None:
        """Stamp in stream order, before a run."""
        self._stamp((1,), (1,), (self._places[0],))

    def end(self) -> None:
        """Stamp in stream order, after the run."""
        self._stamp((1,), (1,), (self._places[1],))

    def mhz(self) -> float | None:
        """The mean clock between the stamps; None: the run was too short for the timer, or the SM another."""
        first_cycles, first_ns, first_sm, last_cycles, last_ns, last_sm = map(int, self._read())
        ns = last_ns - first_ns
        if first_sm != last_sm or ns <= 0 or self._tick_ns > COARSEST * ns:
            return None
        return (last_cycles - first_cycles) / ns * 1e3

    def times_ns(self) -> tuple[int, int]:
        """When both stamps were taken, in ns of the GPU's own time."""
        stamps = self._read()
        return int(stamps[1]), int(stamps[STAMP + 1])

    def _read(self) -> NDArray[np.uint64]:
        """Both stamps, once everything before has run."""
        host = np.empty(2 * STAMP, np.uint64)
        cupy.cuda.runtime.memcpy(
            host.ctypes.data, self._memory.ptr, host.nbytes, cupy.cuda.runtime.memcpyDeviceToHost
        )
        return host
