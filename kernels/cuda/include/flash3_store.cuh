// The store of flash3's O and LSE; flash3_combine.cuh has that of parts of a row's keys.
#pragma once
#include "flash3_lengths.cuh"
#include "flash3_softmax.cuh"
#include "quad.cuh"

using Output = unsigned short;
using RowSum = float;
// `unit` is what m counts in: LSE = unit m + log l.
__device__ __forceinline__ void store_rows(float (&o)[O_REGS], const Softmax& state, unsigned short* out, float* lse,
                                           int head, int row0, int seqlen_q,
                                           float unit, int head_rows, int queries) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float l = quad_sum(state.l[r]);
        if (RAGGED && (PACKED ? (row0 + 8 * r) % head_rows : row0 + 8 * r) >= queries) clear_row(o, l, r);
        const float inverse = l > 0.0f ? 1.0f / l : 0.0f;
        const int row = row0 + 8 * r;
        const long long at = (long long)head * seqlen_q + row;
        if (row < seqlen_q && lane % 4 == 0) lse[at] = l > 0.0f ? state.m[r] * unit + __logf(l) : MINUS_INFINITY;
#pragma unroll
        for (int i = 0; i < O_REGS; i += 16) {
            u32 x[4];
#pragma unroll
            for (int j = 0; j < 4; ++j)
                x[j] = pack(o[i + 4 * j + 2 * r] * inverse, o[i + 4 * j + 2 * r + 1] * inverse);
            const uint4 piece = quad_transpose(x[0], x[1], x[2], x[3], lane);
            if (row < seqlen_q) *(uint4*)(out + at * HEAD_DIM + i * 2 + lane % 4 * 8) = piece;
        }
    }
}
