// The store of flash3's O and LSE; flash3_combine.cuh has that of parts of a row's keys.
//
// BOXED: O leaves by TMA. Each warp lays its 16 rows where it had them of Q, and one of its threads asks for their store:
// 64 shuffles less a thread, and whole lines. So a buffer of Q is free only when that has been read, which is found out
// a tile later: there must be two of them.
#pragma once
#include "flash3_lengths.cuh"
#include "flash3_softmax.cuh"
#include "quad.cuh"
#include "tma.cuh"

static_assert(!BOXED || Q_STAGES == 2 && !RAGGED, "the next tile of Q arrives while O leaves, and padding is 0");
static_assert(!BOXED || HEAD_DIM_V <= HEAD_DIM, "O lies where Q was");
constexpr int WARP_ROWS = 16;

using Output = unsigned short;
using RowSum = float;
// `unit` is what m counts in: LSE = unit m + log l.
__device__ __forceinline__ void store_lse(float* lse, float m, float l, float unit) {
    if (threadIdx.x % 4 == 0) *lse = l > 0.0f ? m * unit + __logf(l) : MINUS_INFINITY;
}
// Of a state that has its totals.
__device__ __forceinline__ void store_rows(float (&o)[O_REGS], const Softmax& state, unsigned short* out, float* lse,
                                           int head, int row0, int seqlen_q,
                                           float unit, int head_rows, int queries) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float l = state.l[r];
        if (RAGGED && (PACKED ? (row0 + 8 * r) % head_rows : row0 + 8 * r) >= queries) clear_row(o, l, r);
        const int row = row0 + 8 * r;
        const long long at = (long long)head * seqlen_q + row;
        if (row < seqlen_q) store_lse(lse + at, state.m[r], l, unit);
#pragma unroll
        for (int i = 0; i < O_REGS; i += 16) {
            u32 x[4];
#pragma unroll
            for (int j = 0; j < 4; ++j)
                x[j] = pack(o[i + 4 * j + 2 * r] * state.alpha[r], o[i + 4 * j + 2 * r + 1] * state.alpha[r]);
            const uint4 piece = quad_transpose(x[0], x[1], x[2], x[3], lane);
            if (row < seqlen_q) *(uint4*)(out + at * HEAD_DIM_V + i * 2 + lane % 4 * 8) = piece;
        }
    }
}
// Of a warp's 16 rows in shared memory those from the head's first on, where the warp begins before it: a box that is
// stored may end behind its tensor, and not begin before it.
__device__ __forceinline__ void store_from_first(unsigned short* out, u32 rows, int head, int row0, int seqlen_q) {
    constexpr int CHUNKS = HEAD_DIM / 8;
    for (int i = threadIdx.x % 32; i < WARP_ROWS * CHUNKS; i += 32) {
        const int line = i / CHUNKS, column = i % CHUNKS, row = row0 + line;
        uint4 x;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                     : "r"(rows + line * 128 + column / 8 * Q_PANEL + ((column % 8) ^ line % 8) * 16)
                     : "memory");
        if (row >= 0 && row < seqlen_q) *(uint4*)(out + ((long long)head * seqlen_q + row) * HEAD_DIM + column * 8) = x;
    }
    __syncwarp();
}
// The same of a warp whose rows begin at `rows` in shared memory, and at row `row0` of the head. A store is under way.
__device__ __forceinline__ void store_boxes(const float (&o)[O_REGS], const Softmax& state, const TensorMap& map,
                                            unsigned short* out, float* lse, u32 rows, int head, int row0, int seqlen_q,
                                            float unit) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < HEAD_DIM_V / 16; ++i) {
        u32 x[4];
#pragma unroll
        for (int j = 0; j < 4; ++j)
            x[j] = pack(o[8 * i + 2 * j] * state.alpha[j % 2], o[8 * i + 2 * j + 1] * state.alpha[j % 2]);
        const u32 chunk = (i % 4 * 2 + lane / 16) ^ lane % 8;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         rows + lane % 16 * 128 + i / 4 * Q_PANEL + chunk * 16),
                     "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                     : "memory");
    }
    publish_stores();
    __syncwarp();
    if (LIFTED && row0 < 0) {
        store_from_first(out, rows, head, row0, seqlen_q);
    } else if (lane == 0) {
#pragma unroll
        for (int p = 0; p < V_PANELS; ++p) store_box(map, rows + p * Q_PANEL, 64 * p, row0, head);
        commit_stores();
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int row = row0 + lane / 4 + 8 * r;
        if (row < seqlen_q && (!LIFTED || row >= 0))
            store_lse(lse + (long long)head * seqlen_q + row, state.m[r], state.l[r], unit);
    }
}
