// The four threads that share a row of a product's sums.
#pragma once

// All four get the maximum, or the sum.
__device__ __forceinline__ float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ __forceinline__ float quad_sum(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// One row of a quad: 4 registers of 4 chunks become one 16-byte piece a thread.
__device__ __forceinline__ uint4 quad_transpose(unsigned a, unsigned b, unsigned c, unsigned d, int lane) {
    unsigned x = lane & 1 ? a : b, y = lane & 1 ? c : d;
    x = __shfl_xor_sync(0xffffffffu, x, 1);
    y = __shfl_xor_sync(0xffffffffu, y, 1);
    if (lane & 1) a = x, c = y; else b = x, d = y;
    x = lane & 2 ? a : c, y = lane & 2 ? b : d;
    x = __shfl_xor_sync(0xffffffffu, x, 2);
    y = __shfl_xor_sync(0xffffffffu, y, 2);
    if (lane & 2) a = x, b = y; else c = x, d = y;
    return make_uint4(a, b, c, d);
}
