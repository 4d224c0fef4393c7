// flash3-fp8's 8-bit blocks: the bytes as the products read them, so that one copy brings a block, and behind
// it a trailer with its scale. Needs what flash3_layout.cuh needs.
#pragma once
#include "flash3_layout.cuh"
#include "wgmma_fp8.cuh"

constexpr int Q_ROWS = 64;  // of a block of Q
constexpr int TRAILER = 128;  // bytes behind a block: its scale
constexpr u32 Q_BLOCK = Q_ROWS * HEAD_DIM + TRAILER, Q_TILE = GROUPS * Q_BLOCK;
constexpr u32 TRAILER_AT = BLOCK_K * HEAD_DIM, KV_TILE = TRAILER_AT + TRAILER;

#define BEFORE_BARRIERS (Q_STAGES * Q_TILE + 2 * STAGES * KV_TILE)  // flash3_clocks.cuh

__device__ __forceinline__ float scale_at(u32 trailer) {
    float x;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(trailer) : "memory");
    return x;
}
// One over a power of two.
__device__ __forceinline__ float reciprocal(float power) {
    return __uint_as_float((254u << 23) - __float_as_uint(power));
}

// Four numbers to e4m3, to nearest even, beyond 448 to 448; the first in the lowest byte.
__device__ __forceinline__ u32 pack_e4m3(float a, float b, float c, float d) {
    u32 y;
    asm("{ .reg .b16 low, high;\n"
        "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
        "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
        "mov.b32 %0, {low, high}; }"
        : "=r"(y)
        : "f"(a), "f"(b), "f"(c), "f"(d));
    return y;
}
