// Copies of bytes by the Tensor Memory Accelerator: what lies together in memory arrives together in shared memory,
// counted on an mbarrier. 16-byte addresses and sizes.
#pragma once
#include "mbarrier.cuh"

// Bytes that the barrier expects already.
__device__ __forceinline__ void copy_bytes(u32 to, const void* from, u32 bytes, u32 bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(bar)
                 : "memory");
}
__device__ __forceinline__ void load_bytes(u32 to, const void* from, u32 bytes, u32 bar) {
    expect(bar, bytes);
    copy_bytes(to, from, bytes, bar);
}
