// The online softmax on the fragments that multiply_rows leaves in a warp's registers.
//
// m is kept in base 2, times scale * log2(e) and so rounded once: where the maximum stays, alpha = exp2(before - m) is
// exactly 1. With m in units of the scores, exp2(before * factor - m * factor) is off by the rounding of one product,
// tile after tile in the same direction: LSE was off by 9e-5 at 128k keys.
// A row that has seen only masked scores, all -inf, has m = NO_MAXIMUM. Its p and l are 0.
#pragma once
#include "copy.cuh"
#include "mask.cuh"

// Scores of masked entries become -inf. The warp's rows start at q0, the tile's keys, in this order, at k0.
template <typename Order = InOrder, int MT, int COLUMNS>
__device__ __forceinline__ void apply_mask(float (&s)[MT][COLUMNS][4], const Mask& mask, int q0, int k0) {
    const int lane = threadIdx.x % 32;
    k0 += Order::row(lane % 4 * 2);
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int row = q0 + i * 16 + lane / 4 + 8 * r;
            const int begin = mask.begin(row) - k0, end = mask.end(row) - k0;
#pragma unroll
            for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    const int key = Order::row(n * 8 + c);
                    if (key < begin || key >= end) s[i][n][2 * r + c] = MINUS_INFINITY;
                }
            }
        }
    }
}

// scale * log2(e), so that p = exp2(factor * s - m). Its sign went into Q; zero must not meet -inf.
__device__ __forceinline__ float softmax_factor(float scale) { return fmaxf(fabsf(scale) * LOG2E, 1e-30f); }

// The maximum of row r of sub-tile i; all four lanes that share it get it.
template <int COLUMNS>
__device__ __forceinline__ float row_max(const float (&s)[COLUMNS][4], int r) {
    float top = fmaxf(s[0][2 * r], s[0][2 * r + 1]);
#pragma unroll
    for (int n = 1; n < COLUMNS; ++n) top = fmaxf(top, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
    return quad_max(top);
}

// Scores of row r to probabilities, with `m` of that row; returns `sum` and this lane's part of theirs.
template <int COLUMNS>
__device__ __forceinline__ float exponentiate(float (&s)[COLUMNS][4], int r, float factor, float m, float sum = 0.0f,
                                              int first = 0, int end = COLUMNS) {
#pragma unroll
    for (int n = first; n < end; ++n) {
#pragma unroll
        for (int c = 2 * r; c < 2 * r + 2; ++c) {
            s[n][c] = exp2_approx(fmaf(s[n][c], factor, -m));
            sum += s[n][c];
        }
    }
    return sum;
}

// Natural log-sum-exp of a row; -inf when it attended to nothing.
__device__ __forceinline__ float log_sum_exp(float m, float l) {
    return l > 0.0f ? m * LN2 + LN2 * log2_approx(l) : MINUS_INFINITY;
}
