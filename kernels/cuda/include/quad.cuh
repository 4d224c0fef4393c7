// The four threads that share a row of a product's sums.
#pragma once
#include "mbarrier.cuh"

// One row of a quad: 4 registers of 4 chunks become one 16-byte piece a thread.
__device__ __forceinline__ uint4 quad_transpose(u32 a, u32 b, u32 c, u32 d, int lane) {
    u32 x = lane & 1 ? a : b, y = lane & 1 ? c : d;
    x = __shfl_xor_sync(~0u, x, 1);
    y = __shfl_xor_sync(~0u, y, 1);
    if (lane & 1) a = x, c = y; else b = x, d = y;
    x = lane & 2 ? a : c, y = lane & 2 ? b : d;
    x = __shfl_xor_sync(~0u, x, 2);
    y = __shfl_xor_sync(~0u, y, 2);
    if (lane & 2) a = x, b = y; else c = x, d = y;
    return make_uint4(a, b, c, d);
}
