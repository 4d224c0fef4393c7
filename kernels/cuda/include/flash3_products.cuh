// The two products of a key tile, as flash3 asks the tensor cores for them.
#pragma once
#include "flash3_layout.cuh"
#include "wgmma.cuh"

// S = Q K^T: both operands with the head dimension contiguous; 16 columns are 32 bytes of a 128-byte swizzled row.
template <int n>
__device__ __forceinline__ void product_qk(float (&s)[n], u32 q, u32 k) {
    const u64 dq = descriptor(q, 16), dk = descriptor(k, 16);
    wgmma_ss<0>(s, dq, dk);
#pragma unroll
    for (int i = 1; i < HEAD_DIM / 16; ++i)
        wgmma_ss<1>(s, dq + (i / 4 * Q_PANEL + i % 4 * 32 >> 4), dk + (i / 4 * K_PANEL + i % 4 * 32 >> 4));
}
// O += P V: V with the head dimension contiguous is the transposed operand; 16 keys are 2048 bytes.
template <int keys>
__device__ __forceinline__ void product_pv(float (&o)[O_REGS], const u32 (&p)[S_REGS / 2], u32 v) {
    const u64 dv = descriptor(v, K_PANEL);
#pragma unroll
    for (int i = 0; i < keys / 16; ++i)
        wgmma_rs(o, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3], dv + (i * 2048 >> 4));
}
