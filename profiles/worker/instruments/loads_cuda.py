"""Loads that ask a GPU for one thing alone: copying, matrix products, exponentials. Imports CuPy."""

import cupy
import numpy as np
from cupy.cuda import runtime
from cupy_backends.cuda.libs import cublas

from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import Dtype
from flashscope.profiles.worker.instruments.bench import CeilingLoad

COPY_BYTES = 1 << 30  # read, and as many written: far more than any L2 cache holds
CUDA_TYPES: dict[Dtype, int] = {"float32": 0, "float16": 2, "bfloat16": 14}  # cudaDataType_t
MATMUL: dict[Dtype, int] = {"float32": 4096, "float16": 8192, "bfloat16": 8192}  # rows and columns
THREADS, BLOCKS = 256, 8  # of a block, and of a multiprocessor: as many threads as one holds
CHAINS, ROUNDS = 8, 512  # of each thread, as the kernel has them: enough that the unit never waits
EXPONENTIALS = r"""
// ex2(-x) goes to 0.64: nothing overflows.
extern "C" __global__ void exponentials(float* out) {
  float x[8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = 0.1f * i + 1e-3f * threadIdx.x;
  #pragma unroll 8
  for (int round = 0; round < 512; ++round) {
    #pragma unroll
    for (int i = 0; i < 8; ++i) asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(x[i]) : "f"(-x[i]));
  }
  float sum = 0.f;
  #pragma unroll
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum < 0.f) out[0] = sum;  // never: it keeps the compiler from leaving all of it out
}
"""


def copy_load(least_bytes: int) -> CeilingLoad:
    """A copy within device memory.

    Args:
        least_bytes: What it has to be larger than, to go beyond the L2 cache.

    Raises:
        MemoryError: Too little memory is free for that.
    """
    nbytes = min(COPY_BYTES, runtime.memGetInfo()[0] // 4)
    if nbytes < least_bytes:
        raise MemoryError("too little memory is free for a copy beyond the L2 cache")
    source, target = cupy.cuda.Memory(nbytes), cupy.cuda.Memory(nbytes)
    stream = cupy.cuda.get_current_stream()

    def copy() -> None:
        kind = runtime.memcpyDeviceToDevice
        runtime.memcpyAsync(target.ptr, source.ptr, nbytes, kind, stream.ptr)

    return CeilingLoad(copy, 2 * nbytes / 1e6, f"a copy of {nbytes >> 20} MiB")


def matmul_load(dtype: Dtype) -> CeilingLoad:
    """A product of cuBLAS, summed in float32: on the tensor cores in 16 bits, on the FMA units in float32.

    Of random numbers: zeros would take less power, and run at a clock that no kernel sees.
    """
    n, kind = MATMUL[dtype], CUDA_TYPES[dtype]
    drawn = cupy.random.default_rng(0).standard_normal((n, n), dtype=cupy.float32)
    factor = drawn.astype(storage_dtype(dtype), copy=False)
    product = cupy.empty_like(factor)
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    handle = cupy.cuda.device.get_cublas_handle()

    def matmul() -> None:
        cublas.gemmEx(
            *(handle, cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_T, n, n, n, one.ctypes.data),
            *(factor.data.ptr, kind, n, factor.data.ptr, kind, n, zero.ctypes.data),
            *(product.data.ptr, kind, n, cublas.CUBLAS_COMPUTE_32F, cublas.CUBLAS_GEMM_DEFAULT),
        )

    return CeilingLoad(matmul, 2 * n**3 / 1e9, f"cuBLAS's product of {n} × {n} matrices in {dtype}")


def exponentials_load() -> CeilingLoad:
    """ex2 in float32, as a softmax takes it, by every thread that the multiprocessors hold."""
    kernel = cupy.RawKernel(EXPONENTIALS, "exponentials", options=("-std=c++17",))
    out = cupy.cuda.Memory(4)
    blocks = BLOCKS * runtime.getDeviceProperties(runtime.getDevice())["multiProcessorCount"]
    count = blocks * THREADS * CHAINS * ROUNDS
    return CeilingLoad(
        lambda: kernel((blocks,), (THREADS,), (out.ptr,)), count / 1e6, "ex2 on every multiprocessor"
    )
