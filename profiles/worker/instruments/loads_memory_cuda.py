"""Loads that ask a GPU for reads alone: of shared memory, of the L2 cache. Imports CuPy."""

import cupy
from cupy.cuda import runtime

from flashscope.profiles.worker.instruments.bench import CeilingLoad

THREADS = 1024  # of a block
ROUNDS, READS = 1024, 4  # of a thread, and in each round: so many are on their way at once
WIDTH = 16  # bytes that a thread reads at once: the widest there is
STRIDE = THREADS * WIDTH  # bytes of a block's read
L2_SHARE = 3  # the cache has so many times what is read, for Hopper's two halves may both hold a line
READ = r"""
constexpr int THREADS = 1024, ROUNDS = 1024, READS = 4;

__device__ __forceinline__ void keep(unsigned mixed, unsigned* out) {
  if (mixed == 0x5eed5eedu) out[threadIdx.x] = mixed;  // hardly ever: it keeps the reads in the code
}

// A warp reads 512 bytes in a row at once, of every bank four words: no bank is asked twice in a cycle.
// The reads are volatile, else the assembler leaves out those of what has been read before.
extern "C" __global__ void __launch_bounds__(THREADS) shared_reads(unsigned* out) {
  __shared__ uint4 data[2 * THREADS];
  for (int i = threadIdx.x; i < 2 * THREADS; i += THREADS) data[i] = make_uint4(i, i * 3u, i * 5u, i * 7u);
  __syncthreads();
  const unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(data)) + 16u * threadIdx.x;
  unsigned mixed = 0;
  #pragma unroll 1
  for (int round = 0; round < ROUNDS; ++round) {
    uint4 read[READS];
    #pragma unroll
    for (int i = 0; i < READS; ++i)
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(read[i].x), "=r"(read[i].y), "=r"(read[i].z), "=r"(read[i].w)
                   : "r"(first + (i % 2) * 16u * THREADS));
    #pragma unroll
    for (int i = 0; i < READS; ++i) mixed ^= read[i].x ^ read[i].y ^ read[i].z ^ read[i].w;
  }
  keep(mixed, out);
}

// A block reads stretches of its own again and again, past the L1 cache (.cg). What multiprocessors ask for
// at the same time is joined before L2: reads of data that they share would not all get there.
extern "C" __global__ void __launch_bounds__(THREADS)
    l2_reads(const uint4* data, int stretches, unsigned* out) {
  data += static_cast<size_t>(blockIdx.x) * stretches * THREADS + threadIdx.x;
  int stretch = 0;
  unsigned mixed = 0;
  #pragma unroll 1
  for (int round = 0; round < ROUNDS; ++round) {
    uint4 read[READS];
    #pragma unroll
    for (int i = 0; i < READS; ++i) {
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(read[i].x), "=r"(read[i].y), "=r"(read[i].z), "=r"(read[i].w)
                   : "l"(data + static_cast<size_t>(stretch) * THREADS));
      stretch = stretch + 1 == stretches ? 0 : stretch + 1;
    }
    #pragma unroll
    for (int i = 0; i < READS; ++i) mixed ^= read[i].x ^ read[i].y ^ read[i].z ^ read[i].w;
  }
  keep(mixed, out);
}
"""


def shared_load() -> CeilingLoad:
    """Every multiprocessor reads its shared memory, without conflicts of banks."""
    kernel, blocks, out = _kernel("shared_reads"), 2 * _multiprocessors(), cupy.cuda.Memory(4 * THREADS)
    return CeilingLoad(
        lambda: kernel((blocks,), (THREADS,), (out.ptr,)),
        _amount(blocks),
        "reads of shared memory on every multiprocessor",
    )


def l2_load(l2_bytes: int) -> CeilingLoad:
    """Every multiprocessor reads data of its own that the L2 cache holds, again and again.

    Args:
        l2_bytes: Size of the cache.

    Raises:
        ValueError: The cache is too small for that.
    """
    kernel, blocks, out = _kernel("l2_reads"), _multiprocessors(), cupy.cuda.Memory(4 * THREADS)
    stretches = max(READS, l2_bytes // L2_SHARE // (blocks * STRIDE))
    nbytes = blocks * stretches * STRIDE
    if nbytes > l2_bytes:
        raise ValueError("the L2 cache is too small for data of every multiprocessor")
    drawn = cupy.random.default_rng(0).integers(0, 1 << 32, nbytes // 4, dtype=cupy.uint32)
    return CeilingLoad(
        lambda: kernel((blocks,), (THREADS,), (drawn, cupy.int32(stretches), out.ptr)),
        _amount(blocks),
        f"reads of {nbytes / 2**20:.3g} MiB from L2, of its own by every multiprocessor",
    )


def _kernel(name: str) -> cupy.RawKernel:
    return cupy.RawKernel(READ, name, options=("-std=c++17",))


def _multiprocessors() -> int:
    return int(runtime.getDeviceProperties(runtime.getDevice())["multiProcessorCount"])


def _amount(blocks: int) -> float:
    """10^6 bytes that a run reads."""
    return blocks * THREADS * ROUNDS * READS * WIDTH / 1e6
