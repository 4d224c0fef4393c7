// The products of flash3's backward pass for wide heads, each under way until it is waited for, and how P passes from the
// warpgroup that computes it to the one that needs it.
#pragma once
#include "flash3_backward_weights.cuh"
#include "flash3_backward_wide_layout.cuh"
#include "wgmma.cuh"

__device__ __forceinline__ u32 uniform(u32 x) { return __shfl_sync(~0u, x, 0); }

// Some panels of S^T or dP^T: 64 keys by 64 queries, both operands with the head dimension contiguous.
template <int panels, int accumulate>
__device__ __forceinline__ void add_rows(float (&s)[S_REGS], u32 keys, u32 queries) {
    const u64 a = descriptor(keys, 16), b = descriptor(queries, 16);
    wgmma_ss<accumulate>(s, a, b);
#pragma unroll
    for (int i = 1; i < panels * 4; ++i) {
        const u32 at = i / 4 * PANEL_BYTES + i % 4 * 32;
        wgmma_ss<1>(s, a + (at >> 4), b + (at >> 4));
    }
}
// Columns of dV += P^T dO or dK += dS^T Q: the queries are what is summed over, 16 of them 2048 bytes.
template <int REGS>
__device__ __forceinline__ void add_columns(float (&sums)[REGS], const u32 (&p)[S_REGS / 2], u32 queries) {
    const u64 b = descriptor(queries, PANEL_BYTES);
#pragma unroll
    for (int i = 0; i < ROWS / 16; ++i)
        wgmma_rs(sums, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3], b + (i * 2048 >> 4));
}
// 64 columns of dQ: dS by K over the keys of this block, then over those of the other one.
__device__ __forceinline__ void start_dq(float (&dq)[DQ_REGS], const WideShared& at, int buffer, int rank, int part) {
    const u64 a = descriptor(uniform(at.weights + buffer * PANEL_BYTES), PANEL_BYTES);
    const u64 b = descriptor(uniform(at.k + (GROUPS * rank + part) * PANEL_BYTES), PANEL_BYTES);
    const u64 pair_a = descriptor(uniform(at.received + buffer * PANEL_BYTES), PANEL_BYTES);
    const u64 pair_b = descriptor(uniform(at.pair_k + part * PANEL_BYTES), PANEL_BYTES);
    pin(dq);
    wgmma_fence();
    wgmma_t<0, 1>(dq, a, b);
#pragma unroll
    for (int i = 1; i < ROWS / 16; ++i) wgmma_t<1, 1>(dq, a + (i * 2048 >> 4), b + (i * 2048 >> 4));
#pragma unroll
    for (int i = 0; i < ROWS / 16; ++i) wgmma_t<1, 1>(dq, pair_a + (i * 2048 >> 4), pair_b + (i * 2048 >> 4));
    wgmma_commit();
}

// P^T as put_weights left it, in the registers of dP^T's sums. `row`: this thread's of the 16 of its warp.
__device__ __forceinline__ void get_weights(float (&p)[S_REGS], u32 row) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < ROWS / 16; ++i) {
        u32 x[4];
        load_matrices(x, row + ((i * 2 + lane / 16) ^ lane % 8) * 16);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float2 two = unpack(x[j]);
            p[8 * i + 2 * j] = two.x, p[8 * i + 2 * j + 1] = two.y;
        }
    }
}
template <int stages, int count>
__device__ __forceinline__ void wait_for_stages(RingOf<stages> ring, u32 full) {
#pragma unroll
    for (int i = 0; i < count; ++i, ring.next()) wait(full + 8 * ring.stage, ring.phase);
}
