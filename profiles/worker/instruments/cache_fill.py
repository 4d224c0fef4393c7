"""Fill the L2 cache with data of nobody's: nothing of a run stays in it, and nothing that has to be written.

Imports CuPy: child processes only.
"""

from functools import cache
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime

from flashscope.profiles.worker.instruments.bench import Run

READ = 4  # times the L2 cache is read
BLOCKS, THREADS, VECTOR = 1024, 256, 16
SOURCE = r"""
extern "C" __global__ void read_all(const uint4* data, unsigned long long count, unsigned int* out) {
  unsigned int any = 0;
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned long long i = first; i < count; i += step) {
    const uint4 four = data[i];
    any |= four.x | four.y | four.z | four.w;
  }
  if (any) *out = any;
}
"""


def cache_fill(l2_bytes: int) -> Run:
    """What fills the cache, in stream order: it reads zeros and writes nothing. Holds its memory.

    Args:
        l2_bytes: Size of the cache.
    """
    memory = cupy.cuda.Memory(READ * l2_bytes)
    runtime.memset(memory.ptr, 0, memory.size)
    count, read_all = np.uint64(memory.size // VECTOR), _read_all()
    return lambda: read_all((BLOCKS,), (THREADS,), (memory.ptr, count, memory.ptr))


@cache
def _read_all() -> Any:
    return cupy.RawModule(code=SOURCE, options=("-std=c++17",)).get_function("read_all")
