// The two products of attention on register micro-tiles: every value read from shared memory feeds ROWS or COLUMNS
// fused multiply-adds, so that the FMA units, not shared memory, set the pace. Sums are float, in order of k.
#pragma once
#include "tile.cuh"

__device__ __forceinline__ float4 load_four(const float* source) { return *reinterpret_cast<const float4*>(source); }

// acc[i][j] += sum over k of a[ty + 16 i][k] * b[tx + 8 j][k]: rows of Q with rows of K.
template <int DEPTH, int STRIDE, int ROWS, int COLUMNS>
__device__ __forceinline__ void multiply_rows(const float* a, const float* b, float (&acc)[ROWS][COLUMNS]) {
    a += thread_row() * STRIDE;
    b += thread_column() * STRIDE;
#pragma unroll 1
    for (int k = 0; k < DEPTH; k += 4) {
        float4 right[COLUMNS];
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) right[j] = load_four(b + j * THREAD_COLUMNS * STRIDE + k);
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const float4 left = load_four(a + i * THREAD_ROWS * STRIDE + k);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) acc[i][j] = fmaf(left.x, right[j].x, acc[i][j]);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) acc[i][j] = fmaf(left.y, right[j].y, acc[i][j]);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) acc[i][j] = fmaf(left.z, right[j].z, acc[i][j]);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) acc[i][j] = fmaf(left.w, right[j].w, acc[i][j]);
        }
    }
}

__device__ __forceinline__ void multiply_add(float4& acc, float factor, float4 v) {
    acc.x = fmaf(factor, v.x, acc.x);
    acc.y = fmaf(factor, v.y, acc.y);
    acc.z = fmaf(factor, v.z, acc.z);
    acc.w = fmaf(factor, v.w, acc.w);
}

// acc[i][c] += sum over k of p[ty + 16 i][k] * v[k][4 tx + 32 c + 0..3]: probabilities with V.
template <int DEPTH, int P_STRIDE, int V_STRIDE, int ROWS, int GROUPS>
__device__ __forceinline__ void multiply_columns(const float* p, const float* v, float4 (&acc)[ROWS][GROUPS]) {
    p += thread_row() * P_STRIDE;
    v += thread_column() * 4;
#pragma unroll 1
    for (int k = 0; k < DEPTH; k += 4) {
        float4 left[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; ++i) left[i] = load_four(p + i * THREAD_ROWS * P_STRIDE + k);
#pragma unroll
        for (int step = 0; step < 4; ++step) {
            float4 right[GROUPS];
#pragma unroll
            for (int c = 0; c < GROUPS; ++c) right[c] = load_four(v + (k + step) * V_STRIDE + c * 32);
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                const float factor = step == 0 ? left[i].x : step == 1 ? left[i].y : step == 2 ? left[i].z : left[i].w;
#pragma unroll
                for (int c = 0; c < GROUPS; ++c) multiply_add(acc[i][c], factor, right[c]);
            }
        }
    }
}
