// The online softmax on the scores of one tile, in base 2: Q was multiplied by scale * log2(e) when it was loaded,
// so p = exp2(s - m) costs one subtraction and one instruction of the special function unit.
#pragma once
#include "tile.cuh"

constexpr float LN2 = 0.693147180559945309f;
#define MINUS_INFINITY __int_as_float(0xff800000)

// Sum or maximum over the eight threads that share a row; all of them get it.
__device__ __forceinline__ float row_max(float x) {
#pragma unroll
    for (int lane = THREAD_COLUMNS / 2; lane > 0; lane /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, lane));
    return x;
}

__device__ __forceinline__ float row_sum(float x) {
#pragma unroll
    for (int lane = THREAD_COLUMNS / 2; lane > 0; lane /= 2) x += __shfl_xor_sync(0xffffffffu, x, lane);
    return x;
}

// The reference point of an exponent. A row that has seen only masked scores has m = -inf, and -inf - -inf is NaN.
__device__ __forceinline__ float finite_max(float m) { return m == MINUS_INFINITY ? 0.0f : m; }

// Natural log-sum-exp of a row; -inf when it attended to nothing.
__device__ __forceinline__ float log_sum_exp(float m, float l) { return l > 0.0f ? m * LN2 + logf(l) : MINUS_INFINITY; }

// Columns from `end` of this row on do not count; `column` is the tile's first.
struct Mask {
    int seqlen_k;
    int shift;  // Nk - Nq: causal keeps k <= q + shift
    __device__ __forceinline__ int end(int q) const {
#if CAUSAL
        return min(seqlen_k, q + shift + 1);
#else
        return seqlen_k;
#endif
    }
};

// Sets the masked scores of a tile at rows q0.., columns k0.. to -inf; `width` columns of it are in use.
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void apply_mask(float (&s)[ROWS][COLUMNS], const Mask& mask, int q0, int k0, int width) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int end = min(width, mask.end(q0 + thread_row() + THREAD_ROWS * i) - k0);
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            if (thread_column() + THREAD_COLUMNS * j >= end) s[i][j] = MINUS_INFINITY;
        }
    }
}

// One row's step: raises m to the maximum of this tile, turns the scores into probabilities, and returns
// alpha = exp2(m_old - m_new), the factor on what was summed before. `sum` gets this thread's part of the row.
template <int COLUMNS>
__device__ __forceinline__ float update_row(float (&s)[COLUMNS], float& m, float& sum) {
    float top = s[0];
#pragma unroll
    for (int j = 1; j < COLUMNS; ++j) top = fmaxf(top, s[j]);
    const float before = m;
    m = fmaxf(m, row_max(top));
    const float origin = finite_max(m);
    sum = 0.0f;
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        s[j] = exp2f(s[j] - origin);
        sum += s[j];
    }
    return exp2f(before - origin);
}

// Probabilities to shared memory. The eight threads that read a row are those that wrote it: one warp.
template <int STRIDE, int ROWS, int COLUMNS>
__device__ __forceinline__ void store_probabilities(const float (&p)[ROWS][COLUMNS], float* target) {
    target += thread_row() * STRIDE + thread_column();
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) target[i * THREAD_ROWS * STRIDE + j * THREAD_COLUMNS] = p[i][j];
    }
    __syncwarp();
}
