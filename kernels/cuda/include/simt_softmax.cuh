// The online softmax on the scores of one tile. m is kept in base 2, times scale * log2(e), so that a probability
// costs one multiply-add and one instruction of the special function unit: p = exp2(s * factor - m).
#pragma once
#include "mask.cuh"
#include "simt.cuh"

// Maximum or sum over the threads that share a row; all of them get it.
__device__ __forceinline__ float row_max(float x) {
#pragma unroll
    for (int lane = ROW_LANES / 2; lane > 0; lane /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, lane));
    return x;
}

__device__ __forceinline__ float row_sum(float x) {
#pragma unroll
    for (int lane = ROW_LANES / 2; lane > 0; lane /= 2) x += __shfl_xor_sync(0xffffffffu, x, lane);
    return x;
}

// The reference point of an exponent. A row that has seen only masked scores has m = -inf, and -inf - -inf is NaN.
__device__ __forceinline__ float finite_max(float m) { return m == MINUS_INFINITY ? 0.0f : m; }

// Natural log-sum-exp of a row; -inf when it attended to nothing.
__device__ __forceinline__ float log_sum_exp(float m, float l) { return l > 0.0f ? m * LN2 + logf(l) : MINUS_INFINITY; }

// Sets the masked scores of a tile at rows q0.., columns k0.. to -inf; `width` columns of it are in use.
__device__ __forceinline__ void apply_mask(float (&s)[ROWS][COLUMNS], const Mask& mask, int q0, int k0, int width) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int begin = mask.begin(q0 + tile_row(i)) - k0, end = min(width, mask.end(q0 + tile_row(i)) - k0);
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            if (tile_column(j) < begin || tile_column(j) >= end) s[i][j] = MINUS_INFINITY;
        }
    }
}

// One tile of scores, masked where it must be. A negative scale turns their order round: the sign goes in here, and
// `factor` is a magnitude.
__device__ __forceinline__ void compute_scores(const float* q, const float* k, float (&s)[ROWS][COLUMNS],
                                               const Mask& mask, int q0, int k0, int width) {
    multiply_rows<HEAD_DEPTH, QK_STRIDE>(q, k, s);
    if (NEGATIVE_SCALE) {
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) s[i][j] = -s[i][j];
        }
    }
    // Both ends of what a row sees move to the right from row to row.
    const bool whole = BLOCK_K == TILE_K && k0 >= mask.begin(q0 + TILE_Q - 1) && k0 + TILE_K <= mask.end(q0);
    if (!whole) apply_mask(s, mask, q0, k0, width);
}

// One row's step: raises m to the maximum of this tile, turns the scores into probabilities, and returns
// alpha = exp2(m_old - m_new), the factor on what was summed before. `sum` gets this thread's part of the row.
__device__ __forceinline__ float update_row(float (&s)[COLUMNS], float factor, float& m, float& sum) {
    float top = s[0];
#pragma unroll
    for (int j = 1; j < COLUMNS; ++j) top = fmaxf(top, s[j]);
    const float before = m;
    m = fmaxf(m, row_max(top) * factor);
    const float origin = finite_max(m);
    sum = 0.0f;
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        s[j] = exp2f(fmaf(s[j], factor, -origin));
        sum += s[j];
    }
    return exp2f(before - origin);
}
